const { RenderService } = require('scenepress');
const { fakeRenderService } = require('scenepress/testing');
const { signWebhook, verifyWebhook } = require('scenepress/webhooks');

async function main() {
  // For a real service: new RenderService({ folder: './renders' }).
  const service = fakeRenderService({ folder: './renders' });
  console.log(service instanceof RenderService);
  await service.start();
  const { jobId } = await service.enqueue({ owner: 'me', className: 'Hello', code: '…' });
  console.log((await service.wait(jobId)).status);
  await service.stop();
  console.log(verifyWebhook('{}', signWebhook('{}', 'whsec_x'), 'whsec_x').valid);
}

void main();
