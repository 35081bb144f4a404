package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// list is a flag that may be given several times and may hold commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }
func (l *list) Set(value string) error {
	*l = append(*l, strings.Split(value, ",")...)
	return nil
}

// pair is a certificate with its key.
type pair struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// profile says what one certificate is for. A name that parses as an IP
// address becomes an IP subject alternative name.
type profile struct {
	commonName    string
	organizations []string
	names         []string
	server        bool
	client        bool
}

const pkiUsage = `usage: pki --dir DIR --server URL [--address NAME]... [--node NAME=IP]... [--user NAME[=GROUP[+GROUP]...]]...

Writes into DIR, without touching what is there already:
  ca.crt ca.key                 the cluster's certificate authority
  etcd-ca.crt etcd-ca.key       the one that only etcd trusts
  etcd.crt etcd.key, etcd-client.crt etcd-client.key
  front-proxy-ca.crt front-proxy-ca.key, front-proxy-client.crt front-proxy-client.key
                                for API servers behind this one
  apiserver.crt apiserver.key   for every --address
  apiserver-kubelet-client.crt apiserver-kubelet-client.key
  sa.key sa.pub                 service-account signing keys (RSA)
  kubelet-NAME.crt/.key         a serving certificate for every --node
  NAME.kubeconfig               for every --user, with client certificate
  kubelet-NAME.kubeconfig       for every --node
`

func pkiMain(arguments []string) error {
	flags := flag.NewFlagSet("pki", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, pkiUsage) }
	dir := flags.String("dir", "", "where the files go")
	server := flags.String("server", "", "the URL in the kubeconfig files")
	var addresses, nodes, users list
	flags.Var(&addresses, "address", "a name or IP address of the API server")
	flags.Var(&nodes, "node", "NAME=IP of a node")
	flags.Var(&users, "user", "NAME[=GROUP[+GROUP]...]")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *dir == "" || *server == "" || flags.NArg() > 0 {
		flags.Usage()
		return errors.New("--dir and --server are needed")
	}
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return err
	}
	store := &store{dir: *dir, server: *server}
	return store.fill(addresses, nodes, users)
}

// store is a folder of keys and certificates.
type store struct {
	dir    string
	server string
}

func (s *store) fill(addresses, nodes, users []string) error {
	clusterCA, err := s.authority("ca", "kubernetes-ca")
	if err != nil {
		return err
	}
	etcdCA, err := s.authority("etcd-ca", "etcd-ca")
	if err != nil {
		return err
	}
	proxyCA, err := s.authority("front-proxy-ca", "front-proxy-ca")
	if err != nil {
		return err
	}
	if err := s.signingKeys("sa"); err != nil {
		return err
	}
	local := []string{"localhost", "127.0.0.1"}
	for _, wanted := range []struct {
		file   string
		issuer pair
		profile
	}{
		{"etcd", etcdCA, profile{commonName: "etcd", names: local, server: true, client: true}},
		{"etcd-client", etcdCA, profile{commonName: "kube-apiserver", client: true}},
		{"front-proxy-client", proxyCA, profile{commonName: "front-proxy-client", client: true}},
		{"apiserver", clusterCA, profile{commonName: "kube-apiserver", names: append(local, addresses...), server: true}},
		{"apiserver-kubelet-client", clusterCA, profile{commonName: "kube-apiserver-kubelet-client",
			organizations: []string{"system:masters"}, client: true}},
	} {
		if _, err := s.issue(wanted.file, wanted.issuer, wanted.profile); err != nil {
			return err
		}
	}
	for _, node := range nodes {
		if err := s.addNode(node, clusterCA); err != nil {
			return err
		}
	}
	for _, user := range users {
		if err := s.addUser(user, clusterCA); err != nil {
			return err
		}
	}
	return nil
}

// addNode makes what a kubelet serves by, and what it calls the server with: NAME=IP.
func (s *store) addNode(node string, issuer pair) error {
	name, address, found := strings.Cut(node, "=")
	if !found {
		return fmt.Errorf("--node %s: NAME=IP is needed", node)
	}
	if _, err := s.issue("kubelet-"+name, issuer, profile{commonName: "system:node:" + name,
		organizations: []string{"system:nodes"}, names: []string{name, address}, server: true}); err != nil {
		return err
	}
	return s.kubeconfig("kubelet-"+name, issuer, profile{commonName: "system:node:" + name,
		organizations: []string{"system:nodes"}, client: true})
}

// addUser makes a client's configuration: NAME[=GROUP[+GROUP]...].
func (s *store) addUser(user string, issuer pair) error {
	name, groups := user, ""
	// A user's name may hold colons ("system:kube-scheduler"), so the
	// groups follow the last "=".
	if at := strings.LastIndex(user, "="); at >= 0 {
		name, groups = user[:at], user[at+1:]
	}
	wanted := profile{commonName: name, client: true}
	if groups != "" {
		wanted.organizations = strings.Split(groups, "+")
	}
	file := name[strings.LastIndex(name, ":")+1:]
	return s.kubeconfig(file, issuer, wanted)
}

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *store) write(name, kind string, der []byte) error {
	mode := os.FileMode(0o644)
	if strings.HasSuffix(kind, "PRIVATE KEY") {
		mode = 0o600
	}
	return os.WriteFile(s.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}

func (s *store) read(name string) ([]byte, error) {
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: not PEM", s.path(name))
	}
	return block.Bytes, nil
}

// load reads NAME.crt and NAME.key.
func (s *store) load(name string) (pair, error) {
	der, err := s.read(name + ".crt")
	if err != nil {
		return pair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, err
	}
	if der, err = s.read(name + ".key"); err != nil {
		return pair{}, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return pair{}, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return pair{}, fmt.Errorf("%s.key: cannot sign", s.path(name))
	}
	return pair{certificate, signer}, nil
}

// make creates NAME.crt and NAME.key; a certificate without an issuer signs
// itself.
func (s *store) make(name string, issuer pair, template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return pair{}, err
	}
	// A clock that is set back a little must not make the cluster unusable.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = template.NotBefore.AddDate(5, 0, 0)
	if issuer.certificate == nil {
		issuer = pair{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.certificate, key.Public(), issuer.key)
	if err != nil {
		return pair{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	if err := s.write(name+".key", "PRIVATE KEY", keyDER); err != nil {
		return pair{}, err
	}
	if err := s.write(name+".crt", "CERTIFICATE", der); err != nil {
		return pair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	return pair{certificate, key}, err
}

func (s *store) authority(file, commonName string) (pair, error) {
	if existing, err := s.load(file); err == nil || !errors.Is(err, os.ErrNotExist) {
		return existing, err
	}
	return s.make(file, pair{}, &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	})
}

// issue keeps an existing certificate as long as it has all wanted names, so
// that adding a node or an address later works on the same folder.
func (s *store) issue(file string, issuer pair, wanted profile) (pair, error) {
	existing, err := s.load(file)
	if err == nil && covers(existing.certificate, wanted.names) {
		return existing, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return pair{}, err
	}
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: wanted.commonName, Organization: wanted.organizations},
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if wanted.server {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if wanted.client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	for _, name := range wanted.names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return s.make(file, issuer, template)
}

func covers(certificate *x509.Certificate, names []string) bool {
	for _, name := range names {
		if certificate.VerifyHostname(name) != nil {
			return false
		}
	}
	return true
}

func (s *store) signingKeys(file string) error {
	if _, err := os.Stat(s.path(file + ".pub")); err == nil {
		return nil
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := s.write(file+".key", "PRIVATE KEY", private); err != nil {
		return err
	}
	return s.write(file+".pub", "PUBLIC KEY", public)
}

// kubeconfig writes a self-contained client configuration. It is written anew
// on every call, because the server's URL may have changed.
func (s *store) kubeconfig(file string, issuer pair, user profile) error {
	client := file + "-client"
	if _, err := s.issue(client, issuer, user); err != nil {
		return err
	}
	data := func(name string) string {
		text, _ := os.ReadFile(s.path(name))
		return base64.StdEncoding.EncodeToString(text)
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %q
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: local
  context:
    cluster: local
    user: %q
    namespace: default
current-context: local
`, s.server, data("ca.crt"), user.commonName, data(client+".crt"), data(client+".key"), user.commonName)
	return os.WriteFile(s.path(file+".kubeconfig"), []byte(text), 0o600)
}
