# First process of the virtual machine once the root file system is mounted: runs the job and powers off. Kernel
# messages go to the first serial port, the output of the job to the second, its exit status to the third.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /dev/shm /dev/pts /run/lock
mount -t tmpfs shm /dev/shm
mount -t devpts -o ptmxmode=666 pts /dev/pts
ln -s /proc/self/fd /dev/fd
for number in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${number%:*}" "/dev/${number#*:}"; done
hostname virtual
ip link set lo up
for port in /dev/ttyS1 /dev/ttyS2; do stty raw < "$port"; done
sh /run/enter-group.sh > /dev/ttyS1 2>&1 < /dev/null
echo $? > /dev/ttyS2
sync
echo o > /proc/sysrq-trigger
while :; do sleep 1; done
