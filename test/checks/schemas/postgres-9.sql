
CREATE TABLE scenes (
  scene_id text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  revision bigint NOT NULL CHECK (revision >= 1),
  draft_bytes bigint NOT NULL CHECK (draft_bytes >= 0),
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL
);
CREATE INDEX scenes_of_owner ON scenes (owner, changed_at_ms, scene_id);
CREATE INDEX scene_bytes_of_owner ON scenes (owner, draft_bytes);
CREATE FUNCTION scene_revisions_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.scene_id <> OLD.scene_id OR NEW.owner <> OLD.owner OR NEW.created_at_ms <> OLD.created_at_ms
  OR NEW.revision < OLD.revision OR NEW.text_key_id <> OLD.text_key_id THEN
    RAISE EXCEPTION USING MESSAGE = 'the revision of a scene grows, and its owner and its key stay', ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER scene_revisions_grow BEFORE UPDATE ON scenes FOR EACH ROW EXECUTE FUNCTION scene_revisions_grow();
CREATE TABLE scene_drafts (
  scene_id text COLLATE "C" NOT NULL REFERENCES scenes,
  revision bigint NOT NULL CHECK (revision >= 1),
  saved_at_ms bigint NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  checksum bigint NOT NULL,
  text_key_id bigint NOT NULL REFERENCES text_keys,
  texts bytea NOT NULL,
  PRIMARY KEY (scene_id, revision)
);
CREATE TABLE scene_versions (
  job_id text COLLATE "C" PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
  scene_id text COLLATE "C" NOT NULL REFERENCES scenes,
  number bigint NOT NULL CHECK (number >= 1),
  revision bigint CHECK (revision >= 1),
  checksum bigint NOT NULL
);
CREATE UNIQUE INDEX versions_of_scene ON scene_versions (scene_id, number);
