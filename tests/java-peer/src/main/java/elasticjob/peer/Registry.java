package elasticjob.peer;

import org.apache.shardingsphere.elasticjob.reg.base.CoordinatorRegistryCenter;
import org.apache.shardingsphere.elasticjob.reg.zookeeper.ZookeeperConfiguration;
import org.apache.shardingsphere.elasticjob.reg.zookeeper.ZookeeperRegistryCenter;

/**
 * Where the registry is.
 *
 * @param servers where ZooKeeper is, as {@code host:port}
 * @param namespace the namespace in it
 * @param digest {@code user:password}, null where there is none
 * @param sessionTimeoutMilliseconds the session time-out to ask for, 0 for the default
 */
record Registry(String servers, String namespace, String digest, int sessionTimeoutMilliseconds) {

    CoordinatorRegistryCenter connect() {
        ZookeeperConfiguration configuration = new ZookeeperConfiguration(servers, namespace);
        configuration.setSessionTimeoutMilliseconds(sessionTimeoutMilliseconds);
        configuration.setDigest(digest);
        // As patient as the Rust workers: the machine that runs the tests may be busy.
        configuration.setBaseSleepTimeMilliseconds(100);
        configuration.setMaxSleepTimeMilliseconds(1000);
        configuration.setMaxRetries(20);
        CoordinatorRegistryCenter result = new ZookeeperRegistryCenter(configuration);
        result.init();
        return result;
    }
}
