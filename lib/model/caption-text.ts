/** Characters of captions by which a job is found: more than are said in 15 minutes. */
const MOST_CHARACTERS = 20_000;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', nbsp: ' ', lrm: '', rlm: '' };

/** What a WebVTT file says, without times and tags; null when it says nothing. */
export function captionText(file: string): string | null {
  const said: string[] = [];
  let isInCue = false;
  for (const line of file.split(/\r\n|\r|\n/)) {
    if (line.includes('-->')) isInCue = true;
    else if (line === '') isInCue = false;
    else if (isInCue) said.push(plain(line));
  }
  return said.join('\n').slice(0, MOST_CHARACTERS).toWellFormed().trim() || null;
}

/** A line of a cue without tags and escapes, in time that grows with its length only. */
function plain(line: string): string {
  const [start = '', ...tagged] = line.split('<');
  const text = start + tagged.map((part) => part.slice(part.indexOf('>') + 1)).join('');
  return text.replaceAll(/&(\w{2,4});/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
