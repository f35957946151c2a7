/**
 * Rejects versions of Node that are too old, with a sentence instead of the error of a missing module. Import it before
 * anything else.
 */
import process from 'node:process';

/** The first version whose `node:sqlite` tells whether a transaction is open. */
const OLDEST: [major: number, minor: number] = [22, 16];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  throw new Error(
    `scenepress needs Node ${OLDEST.join('.')} or newer (22, 24 and 26 are tested); this is Node ${process.versions.node}.`,
  );
}
