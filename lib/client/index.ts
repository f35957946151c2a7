/** A client of the HTTP API for browsers, workers and Node; it imports no Node modules. */
export { ApiError } from './api-error.ts';
export {
  type ClientOptions,
  type EnqueueOptions,
  type RequestOptions,
  ScenepressClient,
} from './client.ts';
export type {
  ApiAccount,
  AspectRatio,
  ClientEvent,
  CompletedJob,
  EndedJob,
  Enqueued,
  FailedJob,
  JobStatus,
  Quality,
  RenderJob,
  RenderRequest,
  RenderResult,
  UnfinishedJob,
} from './wire.ts';
