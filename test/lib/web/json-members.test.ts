import fc from 'fast-check';
import t from 'tap';
import { rawMember } from '../../../lib/web/json-members.ts';

t.test('rawMember returns the unchanged text of a member', async (t) => {
  t.equal(rawMember('{"a":1.0,"b":2}', 'a'), '1.0');
  t.equal(rawMember(' {\n"b" : "," , "a" :\t[ 1, {"a":2} ] } ', 'a'), '[ 1, {"a":2} ]');
  t.equal(rawMember('{"a":1,"\\u0061":2}', 'a'), '2', 'the last of several, also with escapes in its name');
  t.equal(rawMember('{"b":{"a":1}}', 'a'), undefined, 'nested objects are not searched');
  t.equal(rawMember('{}', 'a'), undefined);
  t.equal(rawMember('{"a":"\\\\\\"}"}', 'a'), '"\\\\\\"}"');
});

t.test('rawMember agrees with JSON.parse on any object', async (t) => {
  const object = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', '"', ' '), fc.jsonValue());
  const agrees = fc.property(object, fc.constantFrom(undefined, 2, '\t'), (value, space) => {
    const json = JSON.stringify(value, null, space);
    return Object.entries(value).every(([name, member]) => {
      const text = rawMember(json, name) ?? '';
      return JSON.stringify(JSON.parse(text)) === JSON.stringify(member);
    });
  });
  t.doesNotThrow(() => fc.assert(agrees));
});
