import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as sdk from '@aws-sdk/client-s3';
import t from 'tap';
import type { Bucket } from '../../../lib/assets/s3/s3-client.ts';
import { upload } from '../../../lib/assets/s3/upload.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const PART_BYTES = 10;

t.test('an upload whose part fails is aborted when none of its parts is under way', async (t) => {
  const path = join(testFolder(t), 'file');
  await writeFile(path, 'x'.repeat(3 * PART_BYTES));
  const file = await open(path);
  t.teardown(() => file.close());
  const told: string[] = [];
  const late = Promise.withResolvers<object>();
  const sent = Promise.withResolvers<void>();
  const send = async (command: { input: { PartNumber?: number } }): Promise<object> => {
    const { PartNumber: part } = command.input;
    told.push(`${command.constructor.name.replace('Command', '')}${part ? ` ${part}` : ''}`);
    if (part === 3) sent.resolve();
    if (part === 1) throw new Error('no space left');
    return part === 2 ? late.promise : { UploadId: 'u' };
  };
  const bucket = { client: { send }, sdk, name: 'b', hasChecksums: true, attempts: 1 } as unknown as Bucket;
  const source = { file, sizeBytes: 3 * PART_BYTES };
  const uploading = t.rejects(upload(bucket, 'k', source, { partBytes: PART_BYTES, params: {} }), /no space/);
  await sent.promise;
  await new Promise(setImmediate);
  told.push('2 arrives');
  late.resolve({});
  await uploading;
  const parts = [1, 2, 3].map((part) => `UploadPart ${part}`);
  t.same(told, ['CreateMultipartUpload', ...parts, '2 arrives', 'AbortMultipartUpload']);
});
