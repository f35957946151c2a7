import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** What a hash of a password costs: scrypt's parameters. */
export interface PasswordCost {
  /** Log2 of N. */
  log2: number;
  blocks: number;
  parallel: number;
}

/** 32 MiB and about 0.2 s per hash, as OWASP recommends. */
export const PASSWORD_COST: PasswordCost = { log2: 15, blocks: 8, parallel: 3 };
const SHORTEST = 10;
const LONGEST = 200;

/** Error: `invalid_request` when it is too short or too long. */
export function checkPassword(password: string): void {
  const { length } = password.normalize('NFKC');
  if (length >= SHORTEST && length <= LONGEST) return;
  throw new ScenepressError('invalid_request', `A password has ${SHORTEST} to ${LONGEST} characters.`);
}

/** `scrypt$<log2 of N>$<r>$<p>$<salt>$<hash>`, the last two as base64url. */
export async function hashPassword(password: string, cost: PasswordCost, random: Random): Promise<string> {
  const salt = random.bytes(SALT_BYTES);
  const { log2, blocks, parallel } = cost;
  const hash = await derive(password, salt, cost);
  return ['scrypt', log2, blocks, parallel, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Whether it is the password of a hash. Takes as long without a hash, that of a new one, so that the time doesn't show
 * whether an account has a password.
 */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
  newCost: PasswordCost,
): Promise<boolean> {
  const [, log2, blocks, parallel, salt = '', hash = ''] = (stored ?? '').split('$');
  const cost =
    stored === undefined
      ? newCost
      : { log2: Number(log2), blocks: Number(blocks), parallel: Number(parallel) };
  const found = await derive(password, Buffer.from(salt, 'base64url'), cost);
  const expected = Buffer.from(hash, 'base64url');
  return found.length === expected.length && timingSafeEqual(found, expected);
}

function derive(password: string, salt: Buffer, { log2, blocks, parallel }: PasswordCost): Promise<Buffer> {
  const N = 2 ** log2;
  const options: ScryptOptions = { N, r: blocks, p: parallel, maxmem: 256 * N * blocks };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, hash) =>
    error ? reject(error) : resolve(hash),
  );
  return promise;
}
