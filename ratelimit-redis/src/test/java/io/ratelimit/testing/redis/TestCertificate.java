package io.ratelimit.testing.redis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A certificate for 127.0.0.1 that is signed by itself, made by the JDK that runs the tests. */
public record TestCertificate(Path keyStore, Path pem) {

    private static final String PASSWORD = "changeit";

    public static TestCertificate create(Path directory, String name) throws IOException, InterruptedException {
        Path keyStore = directory.resolve(name + ".p12");
        Path pem = directory.resolve(name + ".pem");
        keytool(keyStore, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name, "-ext", "SAN=ip:127.0.0.1");
        keytool(keyStore, "-exportcert", "-rfc", "-file", pem.toString());
        return new TestCertificate(keyStore, pem);
    }

    private static void keytool(Path keyStore, String... command) throws IOException, InterruptedException {
        String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        List<String> all = Stream.of(
                        Stream.of(tool),
                        Stream.of(command),
                        Stream.of("-alias", "redis", "-storetype", "PKCS12", "-storepass", PASSWORD),
                        Stream.of("-keystore", keyStore.toString()))
                .flatMap(words -> words)
                .toList();
        Path output = keyStore.resolveSibling("keytool.txt");
        Process process = new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (process.waitFor() != 0) {
            throw new IOException(Files.readString(output));
        }
    }

    /** Of the server that has it. */
    public SSLContext server() throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }
}
