import t from 'tap';
import { sceneClassesIn } from '../../appliance/support/scene-classes.ts';

t.test('the scenes of a text are the classes with a scene among their bases', async (t) => {
  const code = [
    'class B(Scene):',
    'class A (Mixin,\n  ThreeDScene) :',
    'class C(B):',
    'class NoScene(VGroup):',
    '    class Inner(Scene):',
    'class Open(Scene',
  ].join('\n');
  t.same(sceneClassesIn(code), ['A', 'B', 'C']);
});

t.test('open brackets are not searched to the end of the text each', async (t) => {
  const code = 'class A(\n'.repeat(22_000);
  const begun = process.threadCpuUsage();
  t.same(sceneClassesIn(code), []);
  t.same(sceneClassesIn(`${code}Scene)`), ['A']);
  const { user } = process.threadCpuUsage(begun);
  t.ok(user < 300_000, `${user} µs`);
});
