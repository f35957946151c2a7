import { statfs } from 'node:fs/promises';
import { Histogram, type Registry } from 'prom-client';
import type { RenderService } from '../../lib/index.ts';
import type { DataPlace } from '../place/data-place.ts';
import { gauge, OF_INSTALLATION, PREFIX } from './gauge.ts';

const FLUSH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];
const COMMITS = [1, 2, 4, 8, 16, 32, 64, 128];

/** The data folder and its disk. */
export function countCommits(registry: Registry, place: DataPlace, service: RenderService): void {
  const registers = [registry];
  const flushes = new Histogram({
    name: `${PREFIX}storage_flush_seconds`,
    help: 'Time to write and flush a group of commits.',
    buckets: FLUSH_SECONDS,
    registers,
  });
  const commits = new Histogram({
    name: `${PREFIX}storage_group_commits`,
    help: 'Commits per flush; the sum is the number of all commits.',
    buckets: COMMITS,
    registers,
  });
  place.on('flush', ({ commits: count, tookMs }) => {
    flushes.observe(tookMs / 1000);
    commits.observe(count);
  });
  gauge(
    registry,
    'storage_bytes',
    `Size of the database by file; the log contains commits that are not yet in the main file. ${OF_INSTALLATION}`,
    ['file'],
    async (set) => {
      const { databaseBytes, logBytes } = await place.statistics();
      set({ file: 'database' }, databaseBytes);
      set({ file: 'log' }, logBytes);
    },
  );
  gauge(
    registry,
    'disk_bytes',
    'Size and free space of the disk of the data place.',
    ['part'],
    async (set) => {
      const { bsize, blocks, bavail } = await statfs(place.path);
      set({ part: 'all' }, blocks * bsize);
      set({ part: 'free' }, bavail * bsize);
    },
  );
  gauge(registry, 'disk_full', 'Whether jobs are rejected because the disk is full.', [], (set) => {
    set({}, service.status().diskFull ? 1 : 0);
  });
}
