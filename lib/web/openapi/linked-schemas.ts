import type { Json } from './operation.ts';

/**
 * Schemas of a document in which a named object that others contain is a reference, so that generators of clients make
 * one type of it: from copies they make a type each, or none where the names of those clash.
 */
export function linkedSchemas(schemas: Readonly<Record<string, Json>>): Record<string, Json> {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas))
    if (schema['type'] === 'object') names.set(shapeOf(schema), name);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, linkedParts(schema, names)]),
  );
}

/** What two descriptions of the same object have in common; one of them may allow null. */
function shapeOf({ description: _, ...schema }: Json): string {
  return JSON.stringify({ ...schema, type: 'object' }, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value,
  );
}

function linkedParts(schema: Json, names: ReadonlyMap<string, string>): Json {
  return Object.fromEntries(Object.entries(schema).map(([keyword, rule]) => [keyword, linked(rule, names)]));
}

function linked(rule: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(rule)) return rule.map((each) => linked(each, names));
  if (!isObject(rule)) return rule;
  const { type, description } = rule;
  const isNullable = String(type) === 'object,null';
  const name = isNullable || type === 'object' ? names.get(shapeOf(rule)) : undefined;
  if (name === undefined) return linkedParts(rule, names);
  const reference = { $ref: `#/components/schemas/${name}` };
  return {
    ...(description !== undefined && { description }),
    ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference),
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
