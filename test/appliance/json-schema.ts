type Schema = Record<string, unknown>;

/** The parts of an OpenAPI document that tests read. */
export interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { content: Content }> }>>;
  components: { schemas: Record<string, Schema> };
}
type Content = Record<'application/json', { schema: { $ref: string } }>;

/** The schema of a response; throws if the document has no such response. */
export function answerSchema(
  { paths, components }: Document,
  method: string,
  path: string,
  status: number,
): Schema {
  const reference = paths[path]?.[method]?.responses[status]?.content['application/json'].schema.$ref;
  const schema = components.schemas[reference?.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`${method} ${path} has no response ${status} in the document`);
  return withoutReferences(schema, components.schemas) as Schema;
}

function withoutReferences(part: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(part)) return part.map((each) => withoutReferences(each, schemas));
  if (!isObject(part)) return part;
  const { $ref: reference, ...rest } = part;
  const referred = reference === undefined ? {} : schemas[String(reference).split('/').at(-1) ?? ''];
  if (!referred) throw new Error(`the document has no ${reference}`);
  const whole = Object.entries({ ...referred, ...rest });
  return Object.fromEntries(whole.map(([name, each]) => [name, withoutReferences(each, schemas)]));
}

const NOTES = new Set(['$schema', 'title', 'description', 'default', 'format']);

/**
 * Validates a value against a JSON Schema, as far as the documents of this program use it, and returns the violations. An
 * unknown keyword throws, so that no rule is skipped.
 */
export function violations(schema: Schema, value: unknown, at = '$'): string[] {
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    if (NOTES.has(keyword)) return [];
    const check = KEYWORDS[keyword];
    if (!check) throw new Error(`the schema keyword ${keyword} isn't supported`);
    return check(rule as never, value, at, schema);
  });
}

type Check = (rule: never, value: unknown, at: string, schema: Schema) => string[];

const KEYWORDS: Record<string, Check> = {
  type: (rule: string | string[], value, at) =>
    [rule].flat().some((type) => hasType(type, value)) ? [] : [`${at} is not of type ${rule}`],
  enum: (rule: unknown[], value, at) => (rule.includes(value) ? [] : [`${at} is none of ${rule}`]),
  const: (rule: unknown, value, at) => (rule === value ? [] : [`${at} isn't ${rule}`]),
  anyOf: (rule: Schema[], value, at) =>
    rule.some((schema) => violations(schema, value, at).length === 0) ? [] : [`${at} matches no alternative`],
  minimum: (rule: number, value, at) =>
    typeof value === 'number' && value < rule ? [`${at} is below ${rule}`] : [],
  minLength: (rule: number, value, at) =>
    typeof value === 'string' && value.length < rule ? [`${at} is too short`] : [],
  pattern: (rule: string, value, at) =>
    typeof value === 'string' && !new RegExp(rule, 'u').test(value) ? [`${at} doesn't match ${rule}`] : [],
  required: (rule: string[], value, at) =>
    isObject(value)
      ? rule.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name} is missing`)
      : [],
  properties: (rule: Record<string, Schema>, value, at) =>
    isObject(value)
      ? Object.entries(rule).flatMap(([name, schema]) =>
          Object.hasOwn(value, name) ? violations(schema, value[name], `${at}.${name}`) : [],
        )
      : [],
  items: (rule: Schema, value, at) =>
    Array.isArray(value) ? value.flatMap((item, i) => violations(rule, item, `${at}[${i}]`)) : [],
  patternProperties: (rule: Record<string, Schema>, value, at) =>
    isObject(value)
      ? Object.entries(rule).flatMap(([pattern, schema]) =>
          Object.keys(value)
            .filter((name) => new RegExp(pattern, 'u').test(name))
            .flatMap((name) => violations(schema, value[name], `${at}.${name}`)),
        )
      : [],
  additionalProperties: (rule: boolean, value, at, { properties = {}, patternProperties = {} }) =>
    rule || !isObject(value)
      ? []
      : Object.keys(value)
          .filter((name) => !Object.hasOwn(properties as object, name))
          .filter(
            (name) => !Object.keys(patternProperties as object).some((p) => new RegExp(p, 'u').test(name)),
          )
          .map((name) => `${at}.${name} is not allowed`),
};

function hasType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
