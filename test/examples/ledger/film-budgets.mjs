/** A ledger of your own: budgets of films. Here in memory; yours is in your billing. Calls may be repeated. */
export class FilmBudgets {
  #credits;
  #jobs = new Map();

  constructor(credits) {
    this.#credits = credits;
  }

  joins() {
    return false; // It has no transaction in common with the jobs.
  }

  async reserve({ jobId, amountCredits }) {
    const job = this.#jobs.get(jobId);
    if (job) return job.voided ? 'insufficient' : 'reserved';
    if (amountCredits > this.#credits)
      return { kind: 'insufficient', message: 'The budget of the film is spent. Ask its producer.' };
    this.#credits -= amountCredits;
    this.#jobs.set(jobId, { amountCredits, settled: false, voided: false });
    return 'reserved';
  }

  async settle({ jobId, amountCredits }) {
    const job = this.#jobs.get(jobId);
    if (job?.settled) return { kind: 'settled', chargedCredits: job.amountCredits };
    if (!job || job.voided || amountCredits > job.amountCredits + this.#credits)
      return { kind: 'insufficient' };
    this.#credits += job.amountCredits - amountCredits;
    this.#jobs.set(jobId, { amountCredits, settled: true, voided: false });
    return { kind: 'settled', chargedCredits: amountCredits };
  }

  async void({ jobId }) {
    const job = this.#jobs.get(jobId);
    if (job?.settled) throw new Error(`Job ${jobId} is settled.`);
    if (job && !job.voided) this.#credits += job.amountCredits;
    this.#jobs.set(jobId, { amountCredits: 0, settled: false, voided: true });
  }

  async balance() {
    return { paid: this.#credits, free: 0, total: this.#credits };
  }

  async available() {
    return this.#credits;
  }
}
