import { chownSync, closeSync, openSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** A Unix socket in a folder that accepts exactly one connection. Its name is removed when that is made. */
export class OneConnection {
  readonly #server: Server;
  readonly #folderFd: number;

  private constructor(server: Server, folderFd: number) {
    this.#server = server;
    this.#folderFd = folderFd;
  }

  /** Listens in `folder`; the socket is owned by `uid` when given. */
  static async open(options: {
    folder: string;
    name: string;
    uid: number | undefined;
    onConnection: (socket: Socket) => void;
  }): Promise<OneConnection> {
    const server = createServer();
    // Addressed by the folder's descriptor, because socket paths are limited to 107 bytes.
    const folderFd = openSync(options.folder, 'r');
    const path = join(`/proc/self/fd/${folderFd}`, options.name);
    const listening = new OneConnection(server, folderFd);
    server.once('connection', (socket) => {
      server.close(); // Also removes the socket's name.
      options.onConnection(socket);
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, resolve);
      });
      if (options.uid !== undefined) chownSync(path, options.uid, options.uid);
    } catch (error) {
      listening.close();
      throw error;
    }
    return listening;
  }

  /** Stops listening; a connection stays open. */
  close(): void {
    this.#server.close();
    closeSync(this.#folderFd);
  }
}
