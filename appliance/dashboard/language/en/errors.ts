/** Errors that the dashboard makes itself; others are of the API, in English. */
export const errors = {
  anotherSite: 'The form has expired or was sent from another site. Go back, reload the page and try again.',
  backToThePage: 'Back to the page',
  backupIsDownloaded: 'Another backup is being downloaded. Wait until it is complete.',
  clientHasGone: 'The client has gone.',
  formIsIncomplete: 'The form did not arrive completely. Send it again.',
  notAForm: 'Files are sent as multipart/form-data.',
  request: (requestId: string): string => `Request ${requestId}`,
  somethingFailed: "That didn't work",
  textIsForgotten: 'There is no such text: its job was forgotten.',
  title: 'Error',
  toTheOverview: 'Go to the overview',
  tooManyAttempts: (minutes: number): string => `Too many attempts. Try again in ${minutes} min.`,
  tooManyPages: 'Too many pages of the dashboard are open.',
  tooManyPagesAtOnce:
    'Too many pages of your account are being loaded at the same time. Try again in a second.',
  unknownPage: 'There is no such page.',
  /** Titles of pages, by HTTP status; of others, the name of the status. */
  statuses: {} as Readonly<Record<number, string>>,
};
