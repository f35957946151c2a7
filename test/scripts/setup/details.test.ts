import t from 'tap';
import { aptDetail, plainLines, uvDetail, uvSettings } from '../../../scripts/setup/index.mjs';

t.test('uv gets the settings of pip, without folders that do not exist', async (t) => {
  const list = `global.index-url='https://mirror.example/simple'
global.find-links='/absent ${import.meta.dirname} https://wheels.example/'
global.timeout='60'
user.trusted-host='mirror.example'
:env:.index-url='https://other.example/simple'
:env:.extra-index-url='https://one.example/simple https://two.example/simple'
`;
  t.same(uvSettings(list), {
    UV_DEFAULT_INDEX: 'https://other.example/simple',
    UV_INDEX: 'https://one.example/simple https://two.example/simple',
    UV_FIND_LINKS: `${import.meta.dirname},https://wheels.example/`,
    UV_INSECURE_HOST: 'mirror.example',
  });
  t.same(uvSettings(":env:.find-links='/absent'\n"), {});
});

t.test('the output of apt-get tells what it has downloaded and installed', async (t) => {
  const begun = '0 upgraded, 2 newly installed, 0 to remove.\nNeed to get 12.5 MB of archives.\n';
  t.equal(aptDetail('Reading package lists...\n'), '');
  t.equal(aptDetail(begun), '0 of 13 MB');
  const loaded = `${begun}Get:1 http://deb main one amd64 1.0 [4,000 kB]\nGet:2 http://deb main two all 2.0 [8500 kB]\n`;
  t.equal(aptDetail(loaded.split('Get:2')[0] as string), '4 of 13 MB');
  t.equal(aptDetail(`${loaded}Unpacking one (1.0) ...\n`), '13 MB, 1 of 2 packages unpacked');
  const unpacked = `${loaded}Unpacking one (1.0) ...\nUnpacking two (2.0) ...\nSetting up one (1.0) ...\n`;
  t.equal(aptDetail(unpacked), '13 MB, 1 of 2 packages');
  t.equal(aptDetail(`${unpacked}Setting up two (2.0) ...\n`), '13 MB, 2 packages');
  t.equal(
    aptDetail(
      '1 newly installed,\nNeed to get 0 B/3 kB of archives.\nUnpacking one ...\nSetting up one ...\n',
    ),
    '1 package',
  );
  const fetched = `${loaded}0 upgraded, 2 newly installed, 0 to remove.\nNeed to get 0 B/12.5 MB of archives.\n`;
  t.equal(aptDetail(fetched), '13 of 13 MB', 'downloaded before');
});

t.test('the output of uv tells what it has downloaded and what it builds', async (t) => {
  t.equal(uvDetail('Resolved 2 packages in 1ms\n'), '');
  const begun = 'Downloading numpy (16.1MiB)\nDownloading scipy (33.7MiB)\nDownloading click (512.0KiB)\n';
  t.equal(uvDetail(`${begun} Downloaded numpy\n`), '16 of 50 MB');
  t.equal(uvDetail(`${begun} Downloaded numpy\n Downloaded click\n Downloaded scipy\n`), '50 MB');
  t.equal(uvDetail('   Building srt==3\n   Building pycairo==1\n      Built srt==3\n'), 'building 1 package');
});

t.test('without a terminal, a step has a line at its begin and one at its end', async (t) => {
  const lines: string[] = [];
  const progress = plainLines((line) => lines.push(line));
  const [one, two] = [progress.begin('One', () => '3 MB'), progress.begin('Two', () => '')];
  two(false);
  one(true);
  t.same(lines, ['One …', 'Two …', 'Two: failed after 0 s', 'One: 0 s, 3 MB']);
});
