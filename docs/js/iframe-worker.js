// Browsers start no worker for a page that is opened as a file. There a hidden frame does its work: the search.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      const script = inside.document.createElement("script");
      inside.postMessage = (data) => {
        this.dispatchEvent(new MessageEvent("message", { data }));
      };
      inside.importScripts = (...names) => Promise.all(names.map((name) => loaded(inside.document, name)));
      script.src = address;
      this.ready = new Promise((done) => {
        script.onload = done;
      });
      inside.document.body.append(script);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}

function loaded(where, name) {
  return new Promise((done, failed) => {
    const script = where.createElement("script");
    script.src = name;
    script.onload = done;
    script.onerror = () => failed(new Error(`${name} cannot be read.`));
    where.body.append(script);
  });
}
