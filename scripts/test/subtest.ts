/** What files of a group import as tap: the subtest of the file in the URL of this module. */
import type { Test } from 'tap';
import { subtests } from './group.ts';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
const t: Test | undefined = subtests.get(file);
export default t;
