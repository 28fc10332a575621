package elasticjob.peer;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** Starts what the first argument names. Exit code 0, 1 when it failed, 2 for wrong usage. */
public final class Main {

    private static final Map<String, Command> COMMANDS = new TreeMap<>(Map.of(
            "instance", Instance::main,
            "api", Operator::main,
            "bench", Bench::main,
            "fires", Fires::main,
            "tracing", Tracing::main));

    private interface Command {
        void run(String[] arguments) throws Exception;
    }

    private Main() {
    }

    public static void main(final String[] arguments) {
        Command command = arguments.length == 0 ? null : COMMANDS.get(arguments[0]);
        if (null == command) {
            System.err.println("usage: one of " + String.join(", ", COMMANDS.keySet()) + ", and its arguments");
            System.exit(2);
        }
        try {
            command.run(Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (final UsageException ex) {
            System.err.println("usage: " + arguments[0] + " " + ex.getMessage());
            System.exit(2);
        } catch (final Exception ex) {
            ex.printStackTrace();
            System.exit(1);
        }
        // Threads of the registry client and of Quartz would go on.
        System.exit(0);
    }
}
