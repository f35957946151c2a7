// The service of the examples; their test replaces it by fake-service.mjs.
import { RenderService } from 'scenepress';

export const service = new RenderService({ folder: './renders' });
await service.start();
