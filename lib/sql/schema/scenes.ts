/**
 * Scenes, what was saved of them, and the jobs that rendered them. All texts of a scene have its key. The current draft is the
 * newest one: `revision` may be that of a draft that was lost.
 */
export const SCENES_TABLES: string = `
CREATE TABLE scenes (
  scene_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  draft_bytes INTEGER NOT NULL CHECK (draft_bytes >= 0),
  created_at_ms INTEGER NOT NULL,
  changed_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX scenes_of_owner ON scenes (owner, changed_at_ms, scene_id);
CREATE INDEX scene_bytes_of_owner ON scenes (owner, draft_bytes);
CREATE TRIGGER scene_revisions_grow BEFORE UPDATE ON scenes
WHEN NEW.scene_id <> OLD.scene_id OR NEW.owner <> OLD.owner OR NEW.created_at_ms <> OLD.created_at_ms
  OR NEW.revision < OLD.revision OR NEW.text_key_id <> OLD.text_key_id
BEGIN SELECT RAISE(ABORT, 'the revision of a scene grows, and its owner and its key stay'); END;
CREATE TABLE scene_drafts (
  scene_id TEXT NOT NULL REFERENCES scenes,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  saved_at_ms INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  checksum INTEGER NOT NULL,
  text_key_id INTEGER NOT NULL REFERENCES text_keys,
  texts BLOB NOT NULL,
  PRIMARY KEY (scene_id, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE scene_versions (
  job_id TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  scene_id TEXT NOT NULL REFERENCES scenes,
  number INTEGER NOT NULL CHECK (number >= 1),
  revision INTEGER CHECK (revision >= 1),
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX versions_of_scene ON scene_versions (scene_id, number);
`;
