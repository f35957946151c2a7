/** What some system's paths can't contain. */
const UNUSABLE = /[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu;
const LONGEST = 80;
/** Names of devices in Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/**
 * Names of files for scenes, different in any case of letters: `Intro: part 1` becomes `Intro_ part 1.py`, another one of that
 * name `Intro_ part 1-2.py`. `taken`: names that are not given.
 */
export function fileNames(taken: Iterable<string> = []): (name: string) => string {
  const given = new Set(Array.from(taken, (name) => name.toLowerCase()));
  return (name) => {
    const plain = Array.from(name.replace(UNUSABLE, '_')).slice(0, LONGEST).join('');
    const base = plain.replace(/^[.\s]+|[.\s]+$/g, '') || 'scene';
    const stem = DEVICE.test(base) ? `${base}_` : base;
    for (let count = 1; ; count++) {
      const file = count === 1 ? `${stem}.py` : `${stem}-${count}.py`;
      if (given.has(file.toLowerCase())) continue;
      given.add(file.toLowerCase());
      return file;
    }
  };
}
