type Unit = 'short' | 's' | 'bytes' | 'reqps' | 'percentunit' | 'dateTimeFromNow';

/** A line of a panel: PromQL expression and legend. */
type Query = [expr: string, legend: string];

interface Panel {
  title: string;
  unit: Unit;
  queries: Query[];
  /** Shows one number instead of a graph. */
  single?: boolean;
}

const quantiles = (histogram: string, by = ''): Query[] =>
  ['0.5', '0.95'].map((quantile) => [
    `histogram_quantile(${quantile}, sum by (le${by && `, ${by}`}) (rate(scenepress_${histogram}_bucket[$__rate_interval])))`,
    `${by && `{{${by}}} `}${Number(quantile) * 100} %`,
  ]);

const rate = (counter: string, by: string): Query => [
  `sum by (${by}) (rate(scenepress_${counter}[$__rate_interval]))`,
  by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' '),
];

const ROWS: [title: string, panels: Panel[]][] = [
  [
    'Service',
    [
      { title: 'Ready', unit: 'short', single: true, queries: [['min(scenepress_ready)', 'ready']] },
      {
        title: 'Books',
        unit: 'short',
        single: true,
        queries: [['max(scenepress_book_problems)', 'problems']],
      },
      { title: 'Version', unit: 'short', single: true, queries: [['scenepress_build_info', '{{version}}']] },
      { title: 'Sandbox', unit: 'short', single: true, queries: [['scenepress_sandbox_info', '{{level}}']] },
      {
        title: 'Certificate ends',
        unit: 'dateTimeFromNow',
        single: true,
        queries: [['scenepress_tls_certificate_end_timestamp_seconds * 1000', 'end']],
      },
    ],
  ],
  [
    'Jobs',
    [
      { title: 'Jobs', unit: 'short', queries: [['sum by (status) (scenepress_jobs)', '{{status}}']] },
      { title: 'Accepted', unit: 'reqps', queries: [rate('jobs_enqueued_total', 'quality')] },
      { title: 'Ended', unit: 'reqps', queries: [rate('jobs_total', 'status')] },
      {
        title: 'Longest wait now',
        unit: 's',
        queries: [
          ['max(scenepress_queue_oldest_seconds)', 'oldest job'],
          ['max(scenepress_queue_paused)', 'paused'],
        ],
      },
      { title: 'Wait in the queue', unit: 's', queries: quantiles('queue_wait_seconds') },
      { title: 'Render time', unit: 's', queries: quantiles('render_duration_seconds', 'quality') },
      { title: 'Workers', unit: 'short', queries: [['sum by (state) (scenepress_workers)', '{{state}}']] },
      {
        title: 'Renderer deaths and attempts',
        unit: 'reqps',
        queries: [
          ['sum(rate(scenepress_renderer_deaths_total[$__rate_interval]))', 'deaths'],
          ['sum(rate(scenepress_render_attempts_total[$__rate_interval]))', 'attempts'],
        ],
      },
      {
        title: 'Credits',
        unit: 'reqps',
        queries: [
          ['sum(rate(scenepress_credits_settled_total[$__rate_interval]))', 'settled'],
          ['sum(rate(scenepress_credits_voided_total[$__rate_interval]))', 'voided'],
        ],
      },
    ],
  ],
  [
    'Webhooks',
    [
      { title: 'Attempts', unit: 'reqps', queries: [rate('webhook_attempts_total', 'result')] },
      { title: 'Deliveries', unit: 'reqps', queries: [rate('webhook_deliveries_total', 'status')] },
      { title: 'Due', unit: 'short', queries: [['sum(scenepress_webhooks_due)', 'due']] },
      { title: 'Attempt time', unit: 's', queries: quantiles('webhook_attempt_duration_seconds') },
    ],
  ],
  [
    'HTTP',
    [
      { title: 'Requests', unit: 'reqps', queries: [rate('http_requests_total', 'route, status')] },
      { title: 'Latency', unit: 's', queries: quantiles('http_request_duration_seconds', 'route') },
    ],
  ],
  [
    'Storage',
    [
      { title: 'Flush time', unit: 's', queries: quantiles('storage_flush_seconds') },
      {
        title: 'Commits per flush',
        unit: 'short',
        queries: [
          [
            'rate(scenepress_storage_group_commits_sum[$__rate_interval]) / rate(scenepress_storage_group_commits_count[$__rate_interval])',
            'commits',
          ],
        ],
      },
      { title: 'Data', unit: 'bytes', queries: [['sum by (file) (scenepress_storage_bytes)', '{{file}}']] },
      {
        title: 'Disk',
        unit: 'bytes',
        queries: [
          ['min by (part) (scenepress_disk_bytes)', '{{part}}'],
          ['max(scenepress_disk_full)', 'full'],
        ],
      },
    ],
  ],
  [
    'Process',
    [
      {
        title: 'CPU',
        unit: 'percentunit',
        queries: [['rate(process_cpu_seconds_total[$__rate_interval])', 'service']],
      },
      { title: 'Memory', unit: 'bytes', queries: [['process_resident_memory_bytes', 'service']] },
      { title: 'Event loop lag', unit: 's', queries: [['nodejs_eventloop_lag_p99_seconds', '99 %']] },
    ],
  ],
];

const COLUMNS = 24;
const WIDTH = 6;
const HEIGHT = 7;

/** A Grafana dashboard of the service's metrics, for import as JSON. */
export function grafanaDashboard(): object {
  let y = 0;
  const panels = ROWS.flatMap(([title, members]) => {
    const row = { type: 'row', title, collapsed: false, panels: [], gridPos: { h: 1, w: COLUMNS, x: 0, y } };
    y += 1;
    const placed = members.map((panel, index) => {
      const place = { x: (index * WIDTH) % COLUMNS, y: y + HEIGHT * Math.floor((index * WIDTH) / COLUMNS) };
      return panelOf(panel, { ...place, w: WIDTH, h: HEIGHT });
    });
    y += HEIGHT * Math.ceil((members.length * WIDTH) / COLUMNS);
    return [row, ...placed];
  });
  return {
    uid: 'scenepress',
    title: 'Scenepress',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel })),
  };
}

function panelOf({ title, unit, queries, single }: Panel, gridPos: object): object {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  return {
    type: single ? 'stat' : 'timeseries',
    title,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    ...(single && { options: { textMode: 'value_and_name' } }),
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
    })),
  };
}
