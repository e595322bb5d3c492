/* A proxy between the browser and the local host. It can break connections, as when an agent loses the network. */

import http from "node:http";
import net from "node:net";

export class Network {
  #server;
  #connections = new Set();
  #tunnels = new Set();
  #isCut = false;
  #hasSockets = true;

  static async start() {
    const network = new Network();
    const server = http.createServer((request, response) =>
      network.#forward(request, response),
    );
    network.#server = server;
    server.on("connection", (connection) => {
      if (network.#isCut) return connection.destroy();
      network.#connections.add(connection);
      connection.on("close", () => network.#connections.delete(connection));
    });
    // The browser opens a tunnel for each WebSocket.
    server.on("connect", (request, client) => network.#tunnel(request, client));
    await new Promise((done) => server.listen(0, "127.0.0.1", () => done()));
    return network;
  }

  /** The options of a browser context that uses this network. */
  get contextOptions() {
    const server = `http://127.0.0.1:${this.#server.address().port}`;
    return { proxy: { server, bypass: "<-loopback>" } };
  }

  /** Breaks all connections and refuses new ones. */
  cut() {
    this.#isCut = true;
    for (const connection of this.#connections) connection.destroy();
  }

  restore() {
    this.#isCut = false;
    this.#hasSockets = true;
  }

  /** Breaks all WebSockets and refuses new ones. Other requests succeed. */
  cutSockets() {
    this.#hasSockets = false;
    this.breakSockets();
  }

  /** Breaks all open WebSockets. New ones succeed. */
  breakSockets() {
    for (const connection of this.#tunnels) connection.destroy();
  }

  close() {
    this.cut();
    this.#server.close();
  }

  #forward(request, response) {
    const { method, headers } = request;
    const upstream = http.request(
      request.url,
      { method, headers },
      (upstreamResponse) => {
        response.writeHead(
          upstreamResponse.statusCode,
          upstreamResponse.headers,
        );
        upstreamResponse.pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    request.pipe(upstream);
  }

  #tunnel(request, client) {
    if (this.#isCut || !this.#hasSockets) return client.destroy();
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = net.connect(Number(port || 80), hostname, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    this.#tunnels.add(client);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => client.destroy());
    client.on("error", () => upstream.destroy());
    client.on("close", () => {
      this.#tunnels.delete(client);
      upstream.destroy();
    });
  }
}
