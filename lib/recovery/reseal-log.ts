import {
  checksumOf,
  checksumPlaceOf,
  FRAME_SALT,
  HEADER_SALT,
  type LogBytes,
  MAGIC,
  PAGE_BYTES,
  partsOf,
  saltOf,
} from '../storage/sqlite/log-frames.ts';

const FORMAT = 3_007_000;
/** Offsets in the header. */
const HEADER_FORMAT = 4;
const HEADER_PAGE_BYTES = 8;

/** Repairs a damaged log by recomputing its checksums, so all its frames count. Returns it in pieces. */
export async function* resealed(log: LogBytes): AsyncGenerator<Buffer> {
  const salt = await saltOf(log);
  let checksum: [number, number] = [0, 0];
  for await (const { frame, bytes } of partsOf(log)) {
    if (frame === 0) {
      bytes.writeUInt32BE(MAGIC, 0);
      bytes.writeUInt32BE(FORMAT, HEADER_FORMAT);
      bytes.writeUInt32BE(PAGE_BYTES, HEADER_PAGE_BYTES);
    }
    salt.copy(bytes, frame === 0 ? HEADER_SALT : FRAME_SALT);
    checksum = checksumOf(bytes, frame, checksum);
    bytes.writeUInt32BE(checksum[0], checksumPlaceOf(frame));
    bytes.writeUInt32BE(checksum[1], checksumPlaceOf(frame) + 4);
    yield bytes;
  }
}
