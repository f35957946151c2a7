/** The list of jobs, its filters, and what is done with selected jobs. */
export const jobs = {
  title: 'Jobs',
  selected: 'Selected jobs',
  allOnThisPage: 'All on this page',
  forget: 'Forget …',
  noSuchError: 'No such error here',
  noSuchErrorText: 'None of the failed jobs that were looked through contains this text.',
  noneOlder: 'No older jobs',
  noMatch: 'No such jobs',
  noMatchText: 'No job matches all of the filters.',
  noneWith: {
    queued: 'No queued jobs',
    running: 'No running jobs',
    completed: 'No completed jobs',
    failed: 'No failed jobs',
    canceled: 'No canceled jobs',
  },
  noneWithText: 'No job has this state at the moment.',
  noneYet: 'No jobs yet',
  noneYetText:
    'Each render is listed here. Create an API key; the page that shows it has a command that renders a first scene.',
  lookedThrough: (examined: number, shown: string, found: number): string =>
    `Looked through ${examined === 1 ? '1 failed job' : `${shown} failed jobs`}: errors are stored encrypted, so each is read. Found: ${found}.`,
  thereAreOlder: ' There are older ones.',
  older: 'Older jobs',
  continueWithOlder: 'Continue with older jobs',
  filters: 'Filters',
  set: (count: number): string => `${count} set`,
  errorText: 'Text of the error',
  anyQuality: 'any',
  allAccounts: 'all accounts',
  from: 'From',
  to: 'To',
  filter: 'Filter',
  clear: 'Clear',
  all: 'All',
  noneSelected: 'No job was selected.',
  /** What was done, or was not, with so many jobs. */
  done: {
    cancel: (count: number, counted: string): string =>
      `${counted} ${count === 1 ? 'was' : 'were'} canceled.`,
    retry: (count: number, counted: string): string =>
      `${counted} ${count === 1 ? 'is' : 'are'} rendered again.`,
    forget: (count: number, counted: string): string =>
      `${counted} ${count === 1 ? 'was' : 'were'} forgotten.`,
  },
  noneDone: {
    cancel: (why: string): string => `No job was canceled: ${why}.`,
    retry: (why: string): string => `No job is rendered again: ${why}.`,
    forget: (why: string): string => `No job was forgotten: ${why}.`,
  },
  others: (count: number, why: string): string => ` ${count} ${count === 1 ? 'was' : 'were'} not: ${why}.`,
  reasons: {
    tooMany: 'too many changes at once',
    ended: 'already ended',
    disabled: 'the account is disabled',
    codeForgotten: 'the code was forgotten',
    tooFewCredits: 'the account has too few credits',
    tooManyFailures: 'too many renders of the account failed in the last hour',
    tooMuchStored: 'the jobs of the account take as much space as they may',
    queueFull: 'too many are waiting',
    notEnded: 'not ended yet, cancel first',
    notFound: 'not found',
    error: 'an error',
  },
  forgetTitle: (jobs: string): string => `Forget ${jobs}`,
  forgetOne:
    'Forget the selected job? Their code, metadata, errors and artifacts are erased. What they cost is kept. This cannot be undone.',
  forgetSeveral:
    'Forget the {count} selected jobs? Their code, metadata, errors and artifacts are erased. What they cost is kept. This cannot be undone.',
  forgetConfirmed: 'Forget',
};
