export const layout = {
  sections: {
    overview: 'Library',
    playground: 'Playground',
    jobs: 'Jobs',
    shares: 'Shared',
    files: 'Files',
    keys: 'Keys',
    webhooks: 'Webhooks',
    credits: 'Credits',
    accounts: 'Accounts',
    service: 'Service',
    acts: 'Record',
  },
  skip: 'Skip to content',
  navigation: 'Main',
  utc: 'Times: UTC',
  account: 'Account',
  signOut: 'Sign out',
  manual: 'Manual',
  openapi: 'OpenAPI document',
  agents: 'Texts for agents',
  /** Names of languages, each in its own. */
  languages: { en: 'English', de: 'Deutsch' },
  language: 'Language',
  /** What the script of all pages shows. */
  script: {
    copied: 'Copied',
    disconnected: 'Not connected; trying again.',
    frame: 'The frame that was drawn last',
    times: 'Times: {zone}',
    yourTime: '(your time)',
  },
};
