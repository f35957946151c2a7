/** A render request of the API. */
export interface SnippetRequest {
  code: string;
  className: string;
  quality: string;
  aspectRatio: string;
  /** Absent: the default of the quality. */
  fps?: number;
  /** Absent: none are given. */
  params?: Readonly<Record<string, unknown>>;
}

export type SnippetName = 'curl' | 'node' | 'python';

/** Write a request as a command or a program, with the key in `SCENEPRESS_KEY`. */
export const SNIPPETS: Record<SnippetName, (request: SnippetRequest, publicUrl: string) => string> = {
  curl,
  node,
  python,
};

/** The contract has no field for parameters. */
function urlOf({ params }: SnippetRequest, publicUrl: string): string {
  return `${publicUrl}${params ? '/api/tools/v1/jobs' : '/api/v2/render'}`;
}

function curl(request: SnippetRequest, publicUrl: string): string {
  // JSON has no line breaks outside of escapes, so no line of it ends the document.
  return `curl '${urlOf(request, publicUrl)}' \\
  -H "Authorization: Bearer $SCENEPRESS_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- <<'JSON'
${JSON.stringify(request)}
JSON
`;
}

function node(request: SnippetRequest, publicUrl: string): string {
  const { code, ...rest } = request;
  return `const code = [
${linesOf(code, 2)}
].join('\\n');
const answer = await fetch('${urlOf(request, publicUrl)}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.SCENEPRESS_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({ code, ...${JSON.stringify(rest)} }),
});
console.log(answer.status, await answer.json());
`;
}

function python(request: SnippetRequest, publicUrl: string): string {
  const { code, ...rest } = request;
  return `import json, os, urllib.request

code = "\\n".join([
${linesOf(code, 4)}
])
request = urllib.request.Request(
    "${urlOf(request, publicUrl)}",
    data=json.dumps({"code": code, **json.loads(${JSON.stringify(JSON.stringify(rest))})}).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['SCENEPRESS_KEY']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as answer:
    print(answer.status, json.load(answer))
`;
}

/** The lines of a text, as texts of JavaScript and Python: JSON's are both. */
function linesOf(text: string, indent: number): string {
  return text
    .split('\n')
    .map((line) => `${' '.repeat(indent)}${JSON.stringify(line)},`)
    .join('\n');
}
