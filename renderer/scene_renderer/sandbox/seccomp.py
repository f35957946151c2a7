"""The system calls that a job may make: an allow list, compiled to a filter by libseccomp.

Not allowed are those that rendering doesn't need and that use uncounted kernel memory: epoll, inotify, and
splice, tee and sendfile, with which a pipe can keep pages of removed files.

Unlisted calls fail with ENOSYS, so that C libraries newer than the list fall back to older calls; this
includes `clone3`, whose flags a filter can't examine. Calls that a scene might make on purpose or by mistake
fail with EPERM, which tells its author the reason.
"""

import ctypes
import errno
import os
from collections.abc import Iterator
from functools import cache

_ALLOW = 0x7FFF0000
_FAIL_WITH = 0x00050000
_KILL_PROCESS = 0x80000000
_ON_OTHER_ARCHITECTURES = 2  # of the filter's attributes
_OPTIMIZE = 8
_BINARY_TREE = 2
_EQUAL, _MASKED_EQUAL = 4, 7

_SHARED, _ANONYMOUS, _HUGE = 0x01, 0x20, 0x40000
_NEW_NAMESPACES = 0x7E020080
_ACCESS_MODE, _WRITE_ONLY, _READ_WRITE, _TRUNCATE = 3, 1, 2, 0x200
_SHARED_FILES, _SHARED_PARENT, _THREAD = 0x400, 0x8000, 0x10000
_UNSHARE_FILES = 2
_PRCTL = {
    "PDEATHSIG": 1,
    "GET_PDEATHSIG": 2,
    "GET_DUMPABLE": 3,
    "SET_NAME": 15,
    "GET_NAME": 16,
    "GET_SECCOMP": 21,
    "CAPBSET_READ": 23,
    "SET_NO_NEW_PRIVS": 38,
    "GET_NO_NEW_PRIVS": 39,
}
_IOCTL = {
    "TCGETS": 0x5401,
    "TIOCGWINSZ": 0x5413,
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
}

# Without those that send signals to other processes.
_FCNTL = {
    "DUPFD": 0,
    "GETFD": 1,
    "SETFD": 2,
    "GETFL": 3,
    "SETFL": 4,
    "GETLK": 5,
    "DUPFD_CLOEXEC": 1030,
    "GETPIPE_SZ": 1032,
}
# Locks use uncounted kernel memory, and those on files that jobs share would tell one job of another. SQLite,
# fontconfig and dbm request them.
_LOCKS = "flock"
_RECORD_LOCKS = {"SETLK": 6, "SETLKW": 7, "OFD_SETLK": 37, "OFD_SETLKW": 38}

_FILES = """
    access chdir close copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
    fchdir fgetxattr flistxattr fstat fstatfs ftruncate
    getcwd getdents getdents64 getxattr lgetxattr link linkat listxattr llistxattr lseek
    lstat mkdir mkdirat newfstatat pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev
    read readahead readlink readlinkat readv rename renameat renameat2 rmdir stat statfs statx
    symlink symlinkat umask unlink unlinkat write writev
"""
_OPENING = {"open": 1, "openat": 2}  # and the index of the flags argument
# Synchronous writes. A job's files needn't survive a power failure, and the service uses the same disk.
_SYNCHRONOUS, _SYNCHRONOUS_PARTS = 0x101000, (0x1000, 0x100000)  # flags of open
_SYNCHRONOUS_WRITE = 6
_SYNCHRONOUS_FLUSH = 4
_FLUSHING = "fdatasync fsync sync sync_file_range syncfs"
# Landlock can't restrict them.
_METADATA = "chmod fchmod fchmodat fchmodat2 futimesat utime utimensat utimes"
_EVENTS = """
    eventfd eventfd2 poll ppoll pselect6 select signalfd signalfd4 timerfd_create timerfd_gettime
    timerfd_settime
"""
_MEMORY = """
    brk get_mempolicy madvise mbind membarrier mincore mlock mlock2 mprotect mremap munlock munmap
    pkey_alloc pkey_free pkey_mprotect set_mempolicy
"""
# With autogroup scheduling, each session gets a share of the CPU, so jobs may not start sessions.
_SESSIONS = "setsid"
_PROCESSES = """
    arch_prctl execve exit exit_group fork futex futex_requeue futex_wait futex_waitv futex_wake
    get_robust_list getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority
    getresgid getresuid getrlimit getrusage getsid gettid getuid restart_syscall rseq sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
    sched_rr_get_interval sched_yield set_robust_list set_tid_address setpgid setrlimit vfork wait4 waitid
"""
_SIGNALS = """
    alarm getitimer pause rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend
    rt_sigtimedwait setitimer sigaltstack timer_create timer_delete timer_getoverrun timer_gettime
    timer_settime
"""
_TIME_AND_SYSTEM = """
    capget clock_getres clock_gettime clock_nanosleep getrandom gettimeofday nanosleep sysinfo time times
    uname
"""
# The only sockets are the job's channels, which are already connected, and pairs of stream sockets, which
# reach no other job and transfer no descriptors. asyncio needs such a pair; the watch counts their buffers.
_SOCKETS = "getpeername getsockname getsockopt shutdown"
_TRANSFERS = ("recvfrom", "sendto")
_OUT_OF_BAND = 1  # a flag that nothing needs, of intricate code in the kernel
_UNIX, _STREAM, _STREAM_FLAGS = 1, 1, 0x80800
_ALLOWED = _FILES + _EVENTS + _MEMORY + _PROCESSES + _SIGNALS + _TIME_AND_SYSTEM + _SOCKETS
_SIGNALS_TO_A_PROCESS = ("kill", "tgkill")
_OTHER_SIGNALS = ("rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill")

_REFUSED = """
    accept accept4 acct add_key adjtimex bind bpf capset chown chroot clock_settime connect delete_module
    fanotify_init fchown fchownat finit_module fsconfig fsetxattr fsmount fsopen fspick init_module
    io_setup io_uring_enter io_uring_register io_uring_setup ioperm iopl ioprio_set kcmp kexec_file_load
    kexec_load keyctl landlock_create_ruleset lchown listen lookup_dcookie lsetxattr memfd_create
    memfd_secret mknod mknodat modify_ldt mount mount_setattr move_mount mq_open msgget name_to_handle_at
    open_by_handle_at open_tree perf_event_open personality pidfd_getfd pidfd_open pivot_root
    process_madvise process_vm_readv process_vm_writev ptrace quotactl reboot recvmmsg recvmsg request_key
    sched_setaffinity sched_setattr sched_setparam sched_setscheduler semget sendmmsg sendmsg
    setdomainname setfsgid setfsuid setgid setgroups sethostname setns setregid setresgid setresuid
    setreuid setsockopt settimeofday setuid setxattr shmat shmget socket swapoff swapon syslog
    umount2 unshare userfaultfd vhangup vmsplice
"""


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def _equal(argument: int, value: int) -> _Comparison:
    return _Comparison(argument, _EQUAL, value, 0)


def _bits(argument: int, mask: int, value: int) -> _Comparison:
    return _Comparison(argument, _MASKED_EQUAL, mask, value)


def make_filter(*, exposed: int | None) -> bytes:
    """Return the BPF filter for this process and its children.

    `exposed`: the job's process id, if processes and files of the same user, possibly the service's, are
    reachable: only that process may be signaled, and files can only be changed by writing to them. None: the
    job has its own namespaces. Raises OSError without a suitable libseccomp.
    """
    library = _library()
    context = ctypes.c_void_p(library.seccomp_init(_FAIL_WITH | errno.ENOSYS))
    if not context:
        raise OSError(errno.ENOMEM, "seccomp_init failed")
    try:
        _check("attribute", library.seccomp_attr_set(context, _ON_OTHER_ARCHITECTURES, _KILL_PROCESS))
        library.seccomp_attr_set(context, _OPTIMIZE, _BINARY_TREE)  # since 2.5; an optimization
        for action, name, conditions in _rules(exposed):
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number < 0:
                continue  # of another architecture, or unknown to the library
            array = (_Comparison * len(conditions))(*conditions)
            _check(name, library.seccomp_rule_add_array(context, action, number, len(conditions), array))
        return _export(library, context)
    finally:
        library.seccomp_release(context)


def _rules(exposed: int | None) -> Iterator[tuple[int, str, tuple[_Comparison, ...]]]:
    refuse = _FAIL_WITH | errno.EPERM
    for name in _ALLOWED.split():
        yield _ALLOW, name, ()
    for name in _REFUSED.split():
        yield refuse, name, ()
    # No siblings, which the outer process would have to reap, and no threads with their own descriptor table:
    # the open files of a process are counted by its single table.
    strange = _NEW_NAMESPACES | _SHARED_PARENT
    yield _ALLOW, "clone", (_bits(0, strange | _THREAD, 0),)
    yield _ALLOW, "clone", (_bits(0, strange | _THREAD | _SHARED_FILES, _THREAD | _SHARED_FILES),)
    yield _ALLOW, "close_range", (_bits(2, _UNSHARE_FILES, 0),)
    pair = (_equal(0, _UNIX), _bits(1, 0xFFFFFFFF & ~_STREAM_FLAGS, _STREAM), _equal(2, 0))
    yield _ALLOW, "socketpair", pair
    for name in _TRANSFERS:
        yield _ALLOW, name, (_bits(3, _OUT_OF_BAND, 0),)
        yield refuse, name, (_bits(3, _OUT_OF_BAND, _OUT_OF_BAND),)
    # Anonymous shared memory and huge pages wouldn't be counted.
    yield _ALLOW, "mmap", (_bits(3, _ANONYMOUS | _HUGE, 0),)
    yield _ALLOW, "mmap", (_bits(3, _ANONYMOUS | _SHARED | _HUGE, _ANONYMOUS),)
    for name, argument, values in (("prctl", 0, _PRCTL), ("ioctl", 1, _IOCTL), ("fcntl", 1, _FCNTL)):
        for value in values.values():
            yield _ALLOW, name, (_bits(argument, 0xFFFFFFFF, value),)
    # Reported as successful, because programs that request them don't depend on them.
    for name in (*_FLUSHING.split(), *_SESSIONS.split(), _LOCKS):
        yield _FAIL_WITH, name, ()
    yield _FAIL_WITH, "msync", (_bits(2, _SYNCHRONOUS_FLUSH, _SYNCHRONOUS_FLUSH),)
    yield _ALLOW, "msync", (_bits(2, _SYNCHRONOUS_FLUSH, 0),)
    yield _ALLOW, "pwritev2", (_bits(5, _SYNCHRONOUS_WRITE, 0),)
    # The same; semaphores are available for mutual exclusion.
    for value in _RECORD_LOCKS.values():
        yield _FAIL_WITH, "fcntl", (_bits(1, 0xFFFFFFFF, value),)
    # Only for the process itself: others of the same user may be reachable.
    yield _ALLOW, "prlimit64", (_equal(0, 0),)
    yield _ALLOW, "setpriority", (_equal(0, 0), _equal(1, 0))
    for name in _SIGNALS_TO_A_PROCESS:
        yield _ALLOW, name, () if exposed is None else (_equal(0, exposed),)
    for name in _OTHER_SIGNALS:
        yield (_ALLOW if exposed is None else refuse), name, ()
    for name, flags in _OPENING.items():
        for part in _SYNCHRONOUS_PARTS:
            yield refuse, name, (_bits(flags, part, part),)
    if exposed is None:
        for name, flags in _OPENING.items():
            yield _ALLOW, name, (_bits(flags, _SYNCHRONOUS, 0),)
        for name in ("truncate", "fallocate", *_METADATA.split()):
            yield _ALLOW, name, ()
        return
    # Preallocated space isn't counted as written, but writes limit the assumed size of removed files. The C
    # library falls back to writing.
    yield _FAIL_WITH | errno.EOPNOTSUPP, "fallocate", ()
    # Reported as successful: programs that copy files set mode and times, but don't depend on them.
    for name in _METADATA.split():
        yield _FAIL_WITH, name, ()
    yield refuse, "truncate", ()
    # Before ABI version 3, Landlock doesn't prevent truncation, even of read-only files.
    for name, flags in _OPENING.items():
        mask = _SYNCHRONOUS | _TRUNCATE
        yield _ALLOW, name, (_bits(flags, mask, 0),)
        for mode in (_WRITE_ONLY, _READ_WRITE):
            yield _ALLOW, name, (_bits(flags, mask | _ACCESS_MODE, _TRUNCATE | mode),)


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = (ctypes.c_uint32,)
    library.seccomp_attr_set.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32)
    library.seccomp_rule_add_array.argtypes = (
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_void_p,
    )
    library.seccomp_export_bpf.argtypes = (ctypes.c_void_p, ctypes.c_int)
    library.seccomp_release.argtypes = (ctypes.c_void_p,)
    return library


def _check(what: str, result: int) -> None:
    if result < 0:
        raise OSError(-result, f"seccomp {what}: {os.strerror(-result)}")


def _export(library: ctypes.CDLL, context: ctypes.c_void_p) -> bytes:
    reader, writer = os.pipe()  # its buffer is larger than any filter
    try:
        _check("export", library.seccomp_export_bpf(context, writer))
        return os.read(reader, 65_536)
    finally:
        os.close(reader)
        os.close(writer)
