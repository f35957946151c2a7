import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { DraftRecord, DraftState, SceneRecord, SceneUsage, VersionRecord } from '../model/scene.ts';
import type { ListedScene, ScenePage, SceneStore, VersionPage } from '../storage/scene-store.ts';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { textKeyOf } from './row-format.ts';
import { SCENE_DRAFTS, SCENE_VERSIONS, SCENES } from './row-formats.ts';
import { addTextKey, blankTextKey, type TextKey } from './text-keys.ts';

const OF_OWNER = `SELECT ${SCENES.names} FROM scenes WHERE owner = ?`;
const NEWEST = 'ORDER BY changed_at_ms DESC, scene_id DESC LIMIT ?';
const IDS = 'SELECT scene_id FROM scenes WHERE owner = ? ORDER BY changed_at_ms, scene_id LIMIT ?';
const USAGE = 'SELECT count(*) AS scenes, coalesce(sum(draft_bytes), 0) AS bytes FROM scenes WHERE owner = ?';
const DRAFT = `SELECT ${SCENE_DRAFTS.names} FROM scene_drafts WHERE scene_id = ?`;
const DRAFTS = `SELECT scene_id, revision, saved_at_ms, size_bytes, checksum FROM scene_drafts WHERE scene_id = ?
  ORDER BY revision DESC`;
const VERSIONS = `SELECT ${SCENE_VERSIONS.names} FROM scene_versions WHERE scene_id = ?`;
/** A job that is being reserved may still be rolled back. */
const VISIBLE =
  "EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = scene_versions.job_id AND jobs.phase <> 'reserving')";
const LAST_NUMBER = 'SELECT max(number) AS number FROM scene_versions WHERE scene_id = ?';
/** Stands in the place of texts that are not read. */
const UNREAD = { className: '', code: '', settings: {} };

/** Scenes of owners in an SQL database. */
export class SqlSceneStore implements SceneStore {
  readonly #database: SqlDatabase;
  readonly #random: Random;

  constructor(database: SqlDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  async insert(tx: Transaction, scene: SceneRecord, draft: DraftRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const textKey = await addTextKey(inside, this.#random);
    inside.write(SCENES.insert, ...SCENES.rowWithTexts(scene, textKey, this.#random));
    inside.write(SCENE_DRAFTS.insert, ...SCENE_DRAFTS.rowWithTexts(draft, textKey, this.#random));
  }

  async update(
    tx: Transaction,
    scene: SceneRecord,
    { added, dropped }: { added?: DraftRecord; dropped: readonly number[] } = { dropped: [] },
  ): Promise<void> {
    const inside = this.#database.inside(tx);
    const textKey = await this.#textKeyOf(inside, scene.sceneId);
    const texts = SCENES.sealTexts(scene, textKey, this.#random);
    inside.write(SCENES.updateWithTexts, ...SCENES.changes(scene, texts));
    for (const revision of dropped)
      inside.write('DELETE FROM scene_drafts WHERE scene_id = ? AND revision = ?', scene.sceneId, revision);
    if (!added) return;
    inside.write(SCENE_DRAFTS.insert, ...SCENE_DRAFTS.rowWithTexts(added, textKey, this.#random));
  }

  async remove(tx: Transaction, sceneId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    blankTextKey(inside, await this.#textKeyOf(inside, sceneId));
    for (const table of ['assignment_copies', 'scene_versions', 'scene_drafts', 'scenes'])
      inside.write(`DELETE FROM ${table} WHERE scene_id = ?`, sceneId);
  }

  async get(sceneId: string, tx?: Transaction): Promise<SceneRecord | undefined> {
    const row = tx
      ? await this.#database.inside(tx).getForUpdate(SCENES.byKey, sceneId)
      : await this.#database.get(SCENES.byKey, sceneId);
    return row && SCENES.record(row);
  }

  async records({ owner, after, limit }: ScenePage): Promise<SceneRecord[]> {
    const text = `${OF_OWNER}${after ? ' AND (changed_at_ms, scene_id) < (?, ?)' : ''} ${NEWEST}`;
    const values = after ? [Math.floor(after.changedAtMs), after.sceneId] : [];
    const rows = await this.#database.all(text, owner, ...values, limit);
    return rows.map((row) => SCENES.record(row));
  }

  async list(page: ScenePage): Promise<ListedScene[]> {
    const listed: ListedScene[] = [];
    for (const scene of await this.records(page)) {
      const [last] = await this.versions({ sceneId: scene.sceneId, limit: 1 });
      listed.push({ scene, last });
    }
    return listed;
  }

  async of(owner: string, limit: number): Promise<string[]> {
    const rows = await this.#database.all<{ scene_id: string }>(IDS, owner, limit);
    return rows.map(({ scene_id: sceneId }) => sceneId);
  }

  async usage(owner: string, tx?: Transaction): Promise<SceneUsage> {
    const from = tx ? this.#database.inside(tx) : this.#database;
    const row = await from.get<SceneUsage>(USAGE, owner);
    return { scenes: Number(row?.scenes ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  async draft(sceneId: string, revision?: number, tx?: Transaction): Promise<DraftRecord | undefined> {
    const from = tx ? this.#database.inside(tx) : this.#database;
    const [condition, values]: [string, SqlValue[]] =
      revision === undefined ? ['', []] : [' AND revision = ?', [revision]];
    const row = await from.get(`${DRAFT}${condition} ORDER BY revision DESC LIMIT 1`, sceneId, ...values);
    return row && SCENE_DRAFTS.record(row);
  }

  async drafts(sceneId: string, tx?: Transaction): Promise<DraftState[]> {
    const rows = await (tx ? this.#database.inside(tx) : this.#database).all(DRAFTS, sceneId);
    return rows.map((row) => {
      const { revision, savedAtMs, sizeBytes } = SCENE_DRAFTS.recordWith(UNREAD, row);
      return { sceneId, revision, savedAtMs, sizeBytes };
    });
  }

  async addVersion(
    tx: Transaction,
    { owner, atMs, ...version }: Omit<VersionRecord, 'number'> & { owner: string; atMs: number },
  ): Promise<void> {
    const { sceneId } = version;
    const scene = await this.get(sceneId, tx);
    if (scene?.owner !== owner)
      throw new ScenepressError('not_found', 'There is no such scene, or it has been removed.');
    const inside = this.#database.inside(tx);
    const last = await inside.get<{ number: number | null }>(LAST_NUMBER, sceneId);
    const number = Number(last?.number ?? 0) + 1;
    inside.write(SCENE_VERSIONS.insert, ...SCENE_VERSIONS.row({ ...version, number }));
    const changedAtMs = Math.max(scene.changedAtMs, atMs);
    inside.write(SCENES.update, ...SCENES.changes({ ...scene, changedAtMs }));
  }

  versionOf(jobId: string, tx?: Transaction): Promise<VersionRecord | undefined> {
    return this.#version(`${SCENE_VERSIONS.byKey} AND ${VISIBLE}`, [jobId], tx);
  }

  version(sceneId: string, number: number): Promise<VersionRecord | undefined> {
    return this.#version(`${VERSIONS} AND number = ? AND ${VISIBLE}`, [sceneId, number]);
  }

  async versions({ sceneId, before, limit }: VersionPage): Promise<VersionRecord[]> {
    const [condition, values]: [string, SqlValue[]] =
      before === undefined ? ['', []] : [' AND number < ?', [before]];
    const text = `${VERSIONS}${condition} AND ${VISIBLE} ORDER BY number DESC LIMIT ?`;
    const rows = await this.#database.all(text, sceneId, ...values, limit);
    return rows.map((row) => SCENE_VERSIONS.record(row));
  }

  async expired(jobIds: readonly string[]): Promise<string[]> {
    if (jobIds.length === 0) return [];
    const marks = jobIds.map(() => '?').join(', ');
    const text = `SELECT job_id FROM jobs WHERE job_id IN (${marks}) AND artifacts_removed_at_ms IS NOT NULL`;
    const rows = await this.#database.all<{ job_id: string }>(text, ...jobIds);
    return rows.map(({ job_id: jobId }) => jobId);
  }

  async #version(text: string, values: SqlValue[], tx?: Transaction): Promise<VersionRecord | undefined> {
    const row = await (tx ? this.#database.inside(tx) : this.#database).get(text, ...values);
    return row && SCENE_VERSIONS.record(row);
  }

  async #textKeyOf(tx: SqlTransaction, sceneId: string): Promise<TextKey> {
    const row = await tx.getForUpdate(
      `SELECT text_key_id, ${SCENES.textKey} FROM scenes WHERE scene_id = ?`,
      sceneId,
    );
    assert(row, 'the scene exists');
    return textKeyOf(row);
  }
}
