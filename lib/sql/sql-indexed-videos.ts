import type { IndexedVideo } from '../model/job.ts';
import type { FoundVideo, IndexedVideoStore } from '../storage/indexed-videos.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { JOBS } from './row-formats.ts';

const SELECT = `SELECT ${JOBS.names}, index_digest FROM jobs`;
const BY_SCENE = `${SELECT} WHERE scene_digest = ? AND phase = 'completed' ORDER BY job_id DESC LIMIT 1`;
const NAMED = `${SELECT} WHERE job_id = (SELECT earlier_job_id FROM jobs WHERE job_id = ?) AND phase = 'completed' AND index_digest IS NOT NULL`;

/** In columns of `jobs` outside of the job record. Wrong values cost time only. */
export class SqlIndexedVideos implements IndexedVideoStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async note(tx: Transaction, jobId: string, { sceneDigest, indexDigest }: IndexedVideo): Promise<void> {
    const text = 'UPDATE jobs SET scene_digest = ?, index_digest = ? WHERE job_id = ?';
    this.#database.inside(tx).write(text, sceneDigest, indexDigest, jobId);
  }

  async noteEarlier(tx: Transaction, jobId: string, earlierJobId: string): Promise<void> {
    const text = 'UPDATE jobs SET earlier_job_id = ? WHERE job_id = ?';
    this.#database.inside(tx).write(text, earlierJobId, jobId);
  }

  async earlierOf(jobId: string): Promise<FoundVideo | undefined> {
    return found(await this.#database.get<Row>(NAMED, jobId));
  }

  async newestOfScene(sceneDigest: number): Promise<FoundVideo | undefined> {
    return found(await this.#database.get<Row>(BY_SCENE, sceneDigest));
  }
}

interface Row {
  index_digest: string;
}

function found(row: Row | undefined): FoundVideo | undefined {
  return row && { job: JOBS.record(row), indexDigest: row.index_digest };
}
