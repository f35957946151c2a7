import { Command } from 'commander';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { printJson } from './output.ts';

/** `scenepress metrics …` */
export function metricsCommand(): Command {
  const metrics = new Command('metrics').description('Prometheus metrics of a running server');
  addExamples(metrics, ['scenepress metrics dashboard > dashboard.json', 'then import it into Grafana']);
  const show = administrative('show', 'Print the output of /metrics', 'scenepress metrics show');
  metrics.addCommand(
    show.action(async (flags: Record<string, unknown>) => {
      const { text } = await withAdministration(configOf(flags), (admin) => admin.data.showMetrics());
      if (flags['json']) printJson({ text });
      else process.stdout.write(text);
    }),
  );
  const dashboard = new Command('dashboard')
    .description('Print a Grafana dashboard of these metrics')
    .option('--json', 'no effect: the output is always JSON')
    .action(async () => {
      const { default: dashboard } = await import('../metrics/dashboard.json', { with: { type: 'json' } });
      printJson(dashboard);
    });
  metrics.addCommand(addExamples(dashboard, 'scenepress metrics dashboard > dashboard.json'));
  return metrics;
}
