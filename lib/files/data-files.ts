/** The names of the files and folders in a data folder. A file that is replaced is first written as `<name>.new`. */
export const DATA_FILES = {
  /** Jobs with their sources, deliveries and ledger. */
  database: 'database.sqlite',
  /** The write-ahead log of the database. */
  databaseLog: 'database.sqlite-wal',
  /** A document, which can be edited manually while no service runs; so are `keys` and `settings`. */
  accounts: 'accounts.json',
  keys: 'keys.json',
  settings: 'settings.json',
  /** The folder of videos, thumbnails and captions. */
  artifacts: 'artifacts',
  /** A studio folder, readable by all scenes; so are `python`, `assets` and `texmf`. */
  fonts: 'fonts',
  python: 'python',
  assets: 'assets',
  texmf: 'texmf',
  /** The folder of running renders. */
  work: 'work',
  /** The folder of audio that was made for scenes. Not in backups. */
  speech: 'speech',
  /** Reserved space for finishing work when the disk is full. */
  spareSpace: 'spare-space',
  /** The folder of empty files, reserved for the same on a file system that limits the number of files. */
  spareFiles: 'spare-files',
  /** Encrypts webhook secrets, unless the master key is given by the configuration. */
  masterKey: 'master.key',
  /** Identifies the right master key; does not reveal it. */
  masterKeyCheck: 'master.key.check',
  /** The new master key; exists only during a rotation. */
  nextMasterKey: 'master.key.next',
  /** Held by the process that owns the folder. */
  lock: 'lock',
  /** Identifies that process. */
  lockHolder: 'lock.holder',
  /** The socket for commands of the administrator. */
  adminSocket: 'admin.sock',
  /** Which installation the data belongs to; exists when artifacts are kept elsewhere. Not in backups. */
  installation: 'installation.json',
  /** Exists when the data was moved to a database; names the database. */
  moved: 'moved',
  /** Exists while a recovery replaces the database; names the folder with the former one. */
  recovering: 'recovering',
  /** The work folder of a recovery. */
  recoveryWork: 'recovery.part',
} as const;

/** Starts the names of former master keys, which older backups need; the time of their replacement follows. */
export const FORMER_MASTER_KEY_PREFIX = 'master.key.until-';
/** Starts the names of folders with files replaced by a recovery; its time follows. */
export const DAMAGED_PREFIX = 'damaged-';
/** Follows the name of a work folder left by a killed service, which is being removed; a random id follows. */
export const OLD_WORK_SUFFIX = '.old-';

/** The documents, in order of creation: when the last one exists, all do. */
export const DOCUMENT_FILES: readonly string[] = [DATA_FILES.accounts, DATA_FILES.keys, DATA_FILES.settings];

/** The studio folders. */
export const STUDIO_PARTS: readonly string[] = [
  DATA_FILES.fonts,
  DATA_FILES.python,
  DATA_FILES.assets,
  DATA_FILES.texmf,
];

/** The files of the lock, which are not part of the data. */
export const LOCK_FILES: readonly string[] = [
  DATA_FILES.lock,
  `${DATA_FILES.lock}-journal`,
  DATA_FILES.lockHolder,
];
