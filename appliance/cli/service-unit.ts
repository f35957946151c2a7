const UNIT = '/etc/systemd/system/scenepress.service';
const USERS = '/etc/sysusers.d/scenepress.conf';
const STATE = '/var/lib/';
const HOMES = ['/home/', '/root/', '/run/user/'];

/** What systemd has to know of a service: its unit and its user. */
export function serviceFiles(service: {
  user: string;
  /** Absolute. */
  dataDir: string;
  /** The command line that is followed by `serve`. */
  program: string[];
}): { path: string; text: string }[] {
  const { user, dataDir } = service;
  return [
    { path: USERS, text: `u ${user} - "Scenepress" ${dataDir} /usr/sbin/nologin\n` },
    { path: UNIT, text: unit(service) },
  ];
}

function unit({ user, dataDir, program }: { user: string; dataDir: string; program: string[] }): string {
  const words = [...program, 'serve'].map((word) => (/^[\w./:@+-]+$/.test(word) ? word : quoted(word)));
  const atHome = program.some((word) => HOMES.some((home) => word.startsWith(home)));
  const folder = dataDir.startsWith(STATE)
    ? `StateDirectory=${dataDir.slice(STATE.length)}\nStateDirectoryMode=0700`
    : `ReadWritePaths=${dataDir}`;
  return `# Made by \`scenepress install-service\`. Change it with \`systemctl edit scenepress\`.
[Unit]
Description=Scenepress, a render service for Manim
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
User=${user}
Group=${user}
ExecStart=${words.join(' ')}
# Opens the log file anew and reads the certificate again.
ExecReload=/bin/kill -HUP $MAINPID
Environment=SCENEPRESS_DATA_DIR=${dataDir}
EnvironmentFile=-/etc/scenepress/environment
WorkingDirectory=${dataDir}
${folder}
Restart=on-failure
RestartSec=2
# Renders get SCENEPRESS_DRAIN_SECONDS (30) to end; only the service itself is told.
KillMode=mixed
TimeoutStopSec=90
LimitNOFILE=65536
TasksMax=8192
# The memory of each render is limited by a cgroup of its own.
Delegate=yes

# The service itself: no rights, no files but its own.
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=${atHome ? 'read-only' : 'yes'}
PrivateTmp=yes
PrivateDevices=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelModules=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
KeyringMode=private
UMask=0077
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM

# The sandbox around scene code is made of namespaces and mounts of its own.
RestrictNamespaces=user mnt pid net ipc uts
SystemCallFilter=@system-service @mount pivot_root unshare setns landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp
# Not set, because it would weaken that sandbox or stop the service:
# - ProtectKernelTunables, ProtectKernelLogs and ProcSubset cover parts of /proc, ProtectControlGroups the cgroups: the
#   kernel then refuses a render a /proc and a cgroup of its own.
# - MemoryDenyWriteExecute: Node compiles JavaScript while it runs.

[Install]
WantedBy=multi-user.target
`;
}

function quoted(word: string): string {
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
}
