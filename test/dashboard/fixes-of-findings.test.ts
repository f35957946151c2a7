// What the editor of the playground writes for a finding.
import { EditorState, type TransactionSpec } from '@codemirror/state';
import t from 'tap';
import { type Finding, faultOf } from '../../appliance/dashboard/client/findings.ts';
import {
  type Fault,
  fixPlaces,
  labelOf,
  setFaults,
  writeFix,
} from '../../appliance/dashboard/client/fixes.ts';
import { playground } from '../../appliance/dashboard/language/en/playground.ts';

const CODE = 'from manim import *\n\nclass Demo(Scene):\n    x = "𝜋"; Circl(random.random())\n';

function finding(line: number, fix: Finding['fix']): Finding {
  return { kind: 'scene:name', severity: 'error', message: 'm', line, column: 1, hint: 'h', fix };
}

/** An editor that shows a finding. */
function editorWith(given: Finding) {
  const fault = faultOf(given, CODE);
  let state = EditorState.create({ doc: CODE, extensions: [fixPlaces] });
  const view = {
    get state() {
      return state;
    },
    dispatch: (...specs: (TransactionSpec | readonly TransactionSpec[])[]) => {
      state = state.update(...(specs as TransactionSpec[])).state;
    },
  };
  view.dispatch({ effects: setFaults.of([fault]) });
  const write = () => writeFix(view as never, fixOf(fault));
  return {
    view,
    fault,
    write,
    text: () => state.doc.toString(),
    label: () => labelOf(fixOf(fault), fault, state, playground.script),
  };
}

function fixOf({ fix }: Fault) {
  if (!fix) throw new Error('the fault has no fix');
  return fix;
}

t.test('a part of the line is replaced, counted in characters', async (t) => {
  const editor = editorWith(finding(4, { line: 4, column: 14, endColumn: 19, text: 'Circle' }));
  t.equal(editor.label(), 'Write Circle');
  t.ok(editor.write());
  t.equal(editor.text(), CODE.replace('Circl', 'Circle'));
});

t.test('an import is written above, and the base of a class where it is now', async (t) => {
  const imported = editorWith(finding(4, { line: 2, column: 1, endColumn: 1, text: 'import random\n' }));
  t.equal(imported.label(), 'Write import random in line 2');
  t.ok(imported.write());
  t.equal(imported.text(), CODE.replace('*\n', '*\nimport random\n'));

  const base = editorWith(finding(4, { line: 3, column: 12, endColumn: 17, text: 'ThreeDScene' }));
  base.view.dispatch({ changes: { from: 0, insert: '# A comment\n' } });
  t.equal(base.label(), 'Write ThreeDScene in line 4');
  t.ok(base.write());
  t.equal(base.text(), `# A comment\n${CODE.replace('(Scene)', '(ThreeDScene)')}`);
});

t.test('nothing is written into a line that was edited meanwhile', async (t) => {
  const editor = editorWith(finding(4, { line: 3, column: 12, endColumn: 17, text: 'ThreeDScene' }));
  editor.view.dispatch({ changes: { from: CODE.indexOf('Demo'), insert: 'My' } });
  t.notOk(editor.write());
  t.equal(editor.text(), CODE.replace('Demo', 'MyDemo'));
});

t.test('a line that is only indented has a label, and one that is not there no fix', async (t) => {
  t.equal(
    editorWith(finding(4, { line: 4, column: 1, endColumn: 5, text: '        ' })).label(),
    'Correct line 4',
  );
  t.equal(faultOf(finding(4, { line: 9, column: 1, endColumn: 1, text: 'x' }), CODE).fix, undefined);
});
