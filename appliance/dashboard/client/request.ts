/** What a form asks to render, for comparison. */
export function requestIn(form: HTMLFormElement): string {
  const fields = new FormData(form);
  return JSON.stringify(
    ['code', 'className', 'quality', 'aspectRatio', 'fps', 'params'].map((name) =>
      String(fields.get(name)).replaceAll('\r\n', '\n'),
    ),
  );
}
