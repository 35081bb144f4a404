"""A mesh: a mutating webhook that puts a container of its own into each pod of a namespace."""

import base64
import contextlib
import http.server
import json
import ssl
import subprocess
import threading

from waiting import wait_until

LIMIT_S = 60


def webhook_server(folder, container, position):
    """(server, its certificate), which answers reviews of new pods; `position` is that of a JSON patch: 0, or "-" for the last."""
    certificate, key = folder / "mesh.crt", folder / "mesh.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=mesh",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True, timeout=LIMIT_S)
    patch = base64.b64encode(json.dumps([{"op": "add", "path": f"/spec/containers/{position}", "value": container}]).encode()).decode()

    class Reviews(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            response = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch", "patch": patch}
            answer = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).encode()
            self.send_response(http.HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Reviews)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server, certificate.read_bytes()


@contextlib.contextmanager
def injected(kubectl, folder, container, position="-"):
    """While this lasts each new pod of the namespace has this container, too."""
    server, certificate = webhook_server(folder, container, position)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    name = f"mesh-{kubectl.namespace}"
    probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "a", "image": "b:1"}]}}

    def injects():
        done = kubectl.run("create", "--dry-run=server", "-o", "json", "-f", "-", given=probe, check=False)
        return done.returncode == 0 and len(json.loads(done.stdout)["spec"]["containers"]) == 2

    try:
        kubectl.apply({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": name}, "webhooks": [{
                "name": "mesh.of.tests", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 10,
                "clientConfig": {"url": f"https://127.0.0.1:{server.server_port}/", "caBundle": base64.b64encode(certificate).decode()},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": kubectl.namespace}},
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}]})
        wait_until(injects, "the mesh", pause_s=0.3)
        yield
    finally:
        kubectl.run("delete", "mutatingwebhookconfiguration", name, "--ignore-not-found")
        server.shutdown()
        server.server_close()
        thread.join(LIMIT_S)
