// The reader of a pipe may exit early: `scenepress key list | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
// The exit code still says how the command ended.
process.stderr.on('error', () => {});

void run();

/** `render` first looks for a process that has already loaded the modules. */
async function run(): Promise<void> {
  if (process.argv[2] === 'render') {
    const { callReady, READY_VARIABLE } = await import('./cli/ready-call.ts');
    const socket = process.env[READY_VARIABLE];
    if (socket) return (await import('./cli/ready-process.ts')).waitForCall(socket);
    const code = await callReady();
    if (code !== undefined) {
      process.exitCode = code;
      return;
    }
  }
  const { runProgram } = await import('./cli/run-program.ts');
  await runProgram();
}
