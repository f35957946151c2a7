// One @ with something on both sides: an address is a name here, nothing is sent to it.
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const LONGEST_EMAIL = 254;

export function isEmail(text: string): boolean {
  return EMAIL.test(text) && text.length <= LONGEST_EMAIL;
}
