/**
 * A plugin for Stryker that leaves texts for people as they are: string literals with three words or more. Tests
 * check the error's code; demanding every word of its message would only make messages hard to improve.
 */
interface Node {
  type: string;
  value?: unknown;
  quasis?: { value: { raw: string } }[];
}

const WORDS = /\p{L}+[,;:]? \S+ \p{L}+/u;

function shouldIgnore({ node }: { node: Node }): string | undefined {
  const text =
    node.type === 'StringLiteral'
      ? String(node.value)
      : node.type === 'TemplateLiteral'
        ? node.quasis?.map(({ value }) => value.raw).join('…')
        : undefined;
  return text !== undefined && WORDS.test(text) ? 'a text for people' : undefined;
}

export const strykerPlugins: object[] = [{ kind: 'Ignore', name: 'messages', value: { shouldIgnore } }];
