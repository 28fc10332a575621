package elasticjob.peer;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is measured, by the options of the Rust program. */
record BenchArguments(String zookeeper, int jobs, int items, int seconds, boolean monitored, boolean failover, boolean oneOff) {

    private static final String USAGE =
            "--zookeeper HOST:PORT --jobs J --items N --seconds S [--no-monitor] [--failover] [--one-off]";

    private static final List<String> VALUES = List.of("--zookeeper", "--jobs", "--items", "--seconds");

    private static final List<String> FLAGS = List.of("--no-monitor", "--failover", "--one-off");

    static BenchArguments parse(final String[] arguments) throws UsageException {
        Map<String, String> values = new HashMap<>();
        Set<String> flags = new HashSet<>();
        Iterator<String> words = Arrays.asList(arguments).iterator();
        while (words.hasNext()) {
            String word = words.next();
            if (FLAGS.contains(word)) {
                flags.add(word);
            } else if (VALUES.contains(word) && words.hasNext()) {
                values.put(word, words.next());
            } else {
                throw new UsageException(USAGE);
            }
        }
        if (!values.keySet().containsAll(VALUES)) {
            throw new UsageException(USAGE);
        }
        try {
            return new BenchArguments(values.get("--zookeeper"), Integer.parseInt(values.get("--jobs")),
                    Integer.parseInt(values.get("--items")), Integer.parseInt(values.get("--seconds")),
                    !flags.contains("--no-monitor"), flags.contains("--failover"), flags.contains("--one-off"));
        } catch (final NumberFormatException ex) {
            throw new UsageException(USAGE);
        }
    }
}
