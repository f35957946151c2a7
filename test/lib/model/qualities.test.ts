import { readFileSync } from 'node:fs';
import t from 'tap';
import { frameSizeOf, QUALITIES, QUALITY_NAMES } from '../../../lib/model/qualities.ts';

function manual(page: string): string {
  return readFileSync(new URL(`../../../appliance/${page}`, import.meta.url), 'utf8');
}

t.test('the manual has the size, frame rate and price of each quality', async (t) => {
  const rows = QUALITY_NAMES.map((quality) => {
    const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
    const { fps, creditsPerSecond } = QUALITIES[quality];
    return `| \`${quality}\` | ${widthPx} × ${heightPx} | ${fps} | ${creditsPerSecond} |`;
  });
  const head = '| quality | size | fps | credits per second |\n|---|---|---|---|';
  t.ok(manual('api.md').includes(`${head}\n${rows.join('\n')}\n\n`), `${head}\n${rows.join('\n')}`);
});

t.test('the names are those of the contract', async (t) => {
  t.ok(manual('render-api.md').includes(`\`quality must be one of: ${QUALITY_NAMES.join(', ')}\``));
  t.ok(
    manual('api.md').includes(`| \`quality\` | ${QUALITY_NAMES.map((name) => `\`${name}\``).join(', ')} |`),
  );
});

t.test('portrait swaps width and height', async (t) => {
  t.same(frameSizeOf('low', '9:16'), { widthPx: 480, heightPx: 854 });
});
