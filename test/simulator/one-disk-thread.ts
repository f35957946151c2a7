// Imported before anything that uses files: with one thread, they answer in the order of the calls.
process.env['UV_THREADPOOL_SIZE'] = '1';
