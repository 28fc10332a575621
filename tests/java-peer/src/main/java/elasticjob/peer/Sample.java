package elasticjob.peer;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Counters of this process, and of the server that nobody else uses, at one moment.
 *
 * @param nanoseconds when
 * @param packets how many packets the server received
 * @param transactions how many transactions it applied
 * @param cpuMilliseconds processor time of this process
 * @param residentKilobytes memory that is in use
 * @param threads threads that there are
 */
record Sample(long nanoseconds, long packets, long transactions, long cpuMilliseconds, long residentKilobytes, long threads) {

    static Sample take(final String server) throws IOException {
        String told = ask(server);
        String status = Files.readString(Path.of("/proc/self/status"));
        return new Sample(System.nanoTime(), Long.parseLong(value(told, "Received:")),
                Long.decode(value(told, "Zxid:")), cpu(), Long.parseLong(value(status, "VmRSS:")),
                Long.parseLong(value(status, "Threads:")));
    }

    /** The packets of this process since an earlier sample: all but the question that a sample itself is. */
    long packetsSince(final Sample before) {
        return packets - before.packets - 1;
    }

    private static String ask(final String server) throws IOException {
        int port = server.lastIndexOf(':');
        try (Socket socket = new Socket(server.substring(0, port), Integer.parseInt(server.substring(port + 1)))) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String value(final String text, final String name) throws IOException {
        for (String each : text.split("\n")) {
            if (each.startsWith(name)) {
                return each.substring(name.length()).trim().split(" ")[0];
            }
        }
        throw new IOException("no " + name + " in: " + text);
    }

    /** The kernel counts in hundredths of a second. */
    private static long cpu() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        // The name of the program may contain blanks; the fields after its closing parenthesis do not.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return 10 * (Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }
}
