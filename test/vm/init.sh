#!/busybox sh
# First process of the virtual machine. Its root file system is the host's, read-only, with a disk of its own on top.
/busybox mkdir -p /bin /proc /sys /dev /host /disk /system
/busybox --install -s /bin
export PATH=/bin
set -e
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do insmod "$module"; done
mount -t virtiofs -o ro host /host
# A disk, because what is written to a tmpfs counts as memory of the group that writes it.
mount -t ext4 /dev/vda /disk
mkdir /disk/upper /disk/work
mount -t overlay -o lowerdir=/host,upperdir=/disk/upper,workdir=/disk/work overlay /system
mount -t tmpfs run /system/run
cp /start.sh /enter-group.sh /job.sh /system/run/
mount --move /dev /system/dev
umount /proc /sys
exec switch_root /system /bin/sh /run/start.sh
