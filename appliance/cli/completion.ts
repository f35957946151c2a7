import { Argument, Command } from 'commander';
import { addExamples } from './describe.ts';
import { print } from './output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** A command with its possible completions. */
interface Completed {
  /** Full name, e.g. `scenepress job list`. */
  path: string;
  description: string;
  commands: { name: string; description: string }[];
  flags: {
    names: string[];
    description: string;
    takes: 'nothing' | 'anything' | 'file';
    choices: string[];
  }[];
  /** Its operands are files. */
  files: boolean;
}

const SCHEMA = 'scenepress schema';

const MAKE: Record<Shell, (commands: Completed[]) => string> = { bash, zsh, fish };

/** `scenepress completion bash` */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('Print a script that lets a shell complete commands and options')
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(SHELLS))
    .action(async (shell: Shell) => {
      // Slow to load, and needed by few commands.
      const { OUTPUTS } = await import('./schemas/outputs.ts');
      print(MAKE[shell](withSchemas(completed(rootOf(command)), [...OUTPUTS.keys()])));
    });
  return addExamples(
    command,
    ['source <(scenepress completion bash)', 'in ~/.bashrc'],
    ['source <(scenepress completion zsh)', 'in ~/.zshrc, after compinit'],
    ['scenepress completion fish | source', 'in ~/.config/fish/config.fish'],
  );
}

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command;
}

function completed(command: Command, above = ''): Completed[] {
  const path = `${above}${command.name()}`;
  const help = command.createHelp();
  const own: Completed = {
    path,
    description: command.description(),
    commands: command.commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    flags: help.visibleOptions(command).map((option) => ({
      names: [option.short, option.long].filter((name) => name !== undefined),
      description: option.description,
      takes: option.required || option.optional ? kindOf(option.flags) : 'nothing',
      choices: option.argChoices ?? [],
    })),
    files: command.registeredArguments.some((argument) => kindOf(`<${argument.name()}>`) === 'file'),
  };
  return [own, ...command.commands.flatMap((sub) => completed(sub, `${path} `))];
}

/** Completes the operands of `schema`, which are the words of commands, as commands below it. */
function withSchemas(all: Completed[], documented: string[]): Completed[] {
  const schema = all.find(({ path }) => path === SCHEMA);
  if (!schema) throw new Error(`there is no command ${SCHEMA}`);
  const descriptionOf = (words: string) =>
    all.find(({ path }) => path === `scenepress ${words}`)?.description ?? '';
  const below = (above: string): Completed => {
    const rests = documented
      .filter((words) => words.startsWith(above))
      .map((words) => words.slice(above.length));
    const next = [...new Set(rests.map((rest) => rest.split(' ', 1)[0] ?? ''))];
    const commands = next.map((name) => ({ name, description: descriptionOf(`${above}${name}`) }));
    return { ...schema, path: `${SCHEMA} ${above}`.trimEnd(), commands };
  };
  const groups = new Set(
    documented.filter((words) => words.includes(' ')).map((words) => words.split(' ')[0]),
  );
  const leaves = documented.map((words) => ({ ...schema, path: `${SCHEMA} ${words}` }));
  return [
    ...all.filter((command) => command !== schema),
    ...[below(''), ...[...groups].map((group) => below(`${group} `)), ...leaves],
  ];
}

function kindOf(flags: string): 'anything' | 'file' {
  return /<(file|folder|backup)>/.test(flags) ? 'file' : 'anything';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Derives the command from the words before the cursor, then offers its completions. */
function bash(commands: Completed[]): string {
  const paths = commands.map(({ path }) => quoted(path)).join('|');
  const cases = commands.map(({ path, commands, flags, files }) => {
    const options = flags.flatMap(({ names }) => names);
    const words = commands.length > 0 ? commands.map(({ name }) => name) : options;
    const values = flags.flatMap(({ names, takes, choices }) => {
      if (takes === 'nothing') return [];
      const offer =
        choices.length > 0 ? wordList(choices) : takes === 'file' ? 'compgen -f -- "$word"' : 'true';
      return [`        ${names.join('|')}) mapfile -t COMPREPLY < <(${offer}); return ;;`];
    });
    const others = files ? 'compgen -f -- "$word"' : wordList(words);
    const before = values.length > 0 ? `      case $before in\n${values.join('\n')}\n      esac\n` : '';
    const offer = `if [[ $word == -* ]]; then ${wordList(options)}; else ${others}; fi`;
    return `    ${quoted(path)})\n${before}      mapfile -t COMPREPLY < <(${offer})\n      ;;`;
  });
  return `# bash completion of scenepress; generated by \`scenepress completion bash\`
_scenepress() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path=scenepress next
  for next in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $next" in
      ${paths}) path="$path $next" ;;
    esac
  done
  COMPREPLY=()
  case $path in
${cases.join('\n')}
  esac
}
complete -o filenames -F _scenepress scenepress`;

  function wordList(words: string[]): string {
    return `compgen -W ${quoted(words.join(' '))} -- "$word"`;
  }
}

/** Uses `_describe`, which shows descriptions beside the words. */
function zsh(commands: Completed[]): string {
  const described = (word: string, description: string) =>
    quoted(`${word.replaceAll(':', '\\:')}:${description.replaceAll('\n', ' ')}`);
  const paths = commands.map(({ path }) => quoted(path)).join('|');
  const cases = commands.map(({ path, commands, flags, files }) => {
    const values = flags.flatMap(({ names, takes, choices }) => {
      if (takes === 'nothing') return [];
      const offer =
        choices.length > 0 ? `compadd -- ${choices.join(' ')}` : takes === 'file' ? '_files' : 'true';
      return [`        ${names.join('|')}) ${offer}; return ;;`];
    });
    const before = values.length > 0 ? `      case $before in\n${values.join('\n')}\n      esac\n` : '';
    const words = commands.map(({ name, description }) => described(name, description));
    const options = flags.flatMap(({ names, description }) =>
      names.map((name) => described(name, description)),
    );
    const lines = [
      ...(words.length > 0 ? [`      words_=(${words.join(' ')}); _describe command words_`] : []),
      `      if [[ $word == -* ]]; then words_=(${options.join(' ')}); _describe option words_; ${files ? 'else _files; ' : ''}fi`,
    ];
    return `    ${quoted(path)})\n${before}${lines.join('\n')}\n      ;;`;
  });
  return `#compdef scenepress
# zsh completion of scenepress; generated by \`scenepress completion zsh\`
_scenepress() {
  local word=\${words[CURRENT]} before=\${words[CURRENT-1]} path_=scenepress next
  local -a words_
  for next in "\${(@)words[2,CURRENT-1]}"; do
    case "$path_ $next" in
      ${paths}) path_="$path_ $next" ;;
    esac
  done
  case $path_ in
${cases.join('\n')}
  esac
}
compdef _scenepress scenepress`;
}

/** One `complete` line per word, with its condition. */
function fish(commands: Completed[]): string {
  const lines = commands.flatMap(({ path, commands, flags, files }) => {
    const when = `-n ${quoted(`__scenepress_at ${path}`)}`;
    return [
      ...(files ? [`complete -c scenepress ${when} -F`] : []),
      ...commands.map(
        ({ name, description }) => `complete -c scenepress ${when} -f -a ${name} -d ${quoted(description)}`,
      ),
      ...flags.map(({ names, description, takes, choices }) => {
        const spelled = names.map((name) =>
          name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
        );
        const value =
          choices.length > 0
            ? ` -x -a ${quoted(choices.join(' '))}`
            : { nothing: '', anything: ' -x', file: ' -r -F' }[takes];
        return `complete -c scenepress ${when} ${spelled.join(' ')}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  const paths = commands.map(({ path }) => quoted(path)).join(' ');
  return `# fish completion of scenepress; generated by \`scenepress completion fish\`
function __scenepress_at
  set -l at scenepress
  for next in (commandline -opc)[2..-1]
    contains -- "$at $next" ${paths}; and set at "$at $next"
  end
  test "$at" = "$argv"
end
complete -c scenepress -f
${lines.join('\n')}`;
}
