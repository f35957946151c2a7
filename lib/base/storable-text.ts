/** Whether a value is a text that all databases keep: well-formed Unicode without NUL, of a limited size in UTF-8. */
export function isStorableText(
  value: unknown,
  mostBytes: number = Number.POSITIVE_INFINITY,
): value is string {
  return (
    typeof value === 'string' &&
    value.isWellFormed() &&
    !value.includes('\0') &&
    Buffer.byteLength(value) <= mostBytes
  );
}
