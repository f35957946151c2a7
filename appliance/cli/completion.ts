import { Argument, Command } from 'commander';
import { addExamples } from './describe.ts';
import { print } from './output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** A command with what may stand after it. */
interface Completed {
  /** Words from the program's name on, as `scenepress job list`. */
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

const MAKE: Record<Shell, (commands: Completed[]) => string> = { bash, zsh, fish };

/** `scenepress completion bash` */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('Print what lets a shell complete commands and options')
    .addArgument(new Argument('<shell>', 'shell to print it for').choices(SHELLS))
    .action((shell: Shell) => print(MAKE[shell](completed(rootOf(command)))));
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

function kindOf(flags: string): 'anything' | 'file' {
  return /<(file|folder|backup)>/.test(flags) ? 'file' : 'anything';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Says by the words before the cursor which command is meant, then offers what may come after it. */
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
  return `# bash completion of scenepress; made by \`scenepress completion bash\`
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

/** zsh's own way: descriptions beside the words. */
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
# zsh completion of scenepress; made by \`scenepress completion zsh\`
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

/** One line for each word that may come, with the condition under which it may. */
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
  return `# fish completion of scenepress; made by \`scenepress completion fish\`
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
