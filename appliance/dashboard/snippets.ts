/** A render request of the API. */
export interface SnippetRequest {
  code: string;
  className: string;
  quality: string;
  aspectRatio: string;
  /** Absent: the default of the quality. */
  fps?: number;
}

export type SnippetName = 'curl' | 'node' | 'python';

/** Write a request as a command or a program, with the key in `SCENEPRESS_KEY`. */
export const SNIPPETS: Record<SnippetName, (request: SnippetRequest, publicUrl: string) => string> = {
  curl,
  node,
  python,
};

function curl(request: SnippetRequest, publicUrl: string): string {
  // JSON has no line breaks outside of escapes, so no line of it ends the document.
  return `curl '${publicUrl}/api/v2/render' \\
  -H "Authorization: Bearer $SCENEPRESS_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- <<'JSON'
${JSON.stringify(request)}
JSON
`;
}

function node(request: SnippetRequest, publicUrl: string): string {
  return `const answer = await fetch('${publicUrl}/api/v2/render', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.SCENEPRESS_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${JSON.stringify(request, null, 2).replaceAll('\n', '\n  ')}),
});
console.log(answer.status, await answer.json());
`;
}

/** The request is written as JSON, which is also Python: it contains only texts and numbers. */
function python(request: SnippetRequest, publicUrl: string): string {
  return `import json, os, urllib.request

body = ${JSON.stringify(request, null, 4)}
request = urllib.request.Request(
    "${publicUrl}/api/v2/render",
    data=json.dumps(body).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['SCENEPRESS_KEY']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as answer:
    print(answer.status, json.load(answer))
`;
}
