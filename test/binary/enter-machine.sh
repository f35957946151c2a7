#!/bin/sh
# Enters a bare machine in new mount and process-id namespaces: the folder $1 is its root, changes to it go to $2,
# and the folder $3 is its /opt/scenepress. Then runs the rest. Uses pivot_root: in a chroot the kernel permits no user
# namespaces.
set -eu
lower=$1 work=$2 programs=$3
shift 3
mount --make-rprivate /
mkdir -p "$work/upper" "$work/overlay" "$work/root"
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$work/upper,workdir=$work/overlay" "$work/root"
cd "$work/root"
mkdir -p opt/scenepress host
mount --bind "$programs" opt/scenepress
mount -o remount,bind,ro opt/scenepress
mount -t proc proc proc
mount -t tmpfs tmpfs dev
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir -p dev/shm dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs -o noexec,nosuid,mode=1777 tmpfs tmp
pivot_root . host
cd /
umount -l /host
[ "${USER_NAMESPACES:-yes}" = yes ] || echo 0 > /proc/sys/user/max_user_namespaces
exec "$@"
