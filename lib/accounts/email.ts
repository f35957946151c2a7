// One @ with text on both sides; the address is only an identifier, no mail is sent.
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const LONGEST_EMAIL = 254;

export function isEmail(text: string): boolean {
  return EMAIL.test(text) && text.length <= LONGEST_EMAIL;
}
