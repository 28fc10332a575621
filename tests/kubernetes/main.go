// What the tests of the carrier KUBERNETES need of Kubernetes, as one program: etcd, the API server, the controllers, the
// scheduler and the kubelet. The parts share most of their code, so one program is built in the time of one of them.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func() *cobra.Command{
	"etcd":                    etcd,
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		names := make([]string, 0, len(parts))
		for name := range parts {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: %s %s [FLAGS]\n", os.Args[0], strings.Join(names, "|"))
		os.Exit(2)
	}
	command := parts[os.Args[1]]()
	// Each part reads os.Args by itself.
	os.Args = os.Args[1:]
	os.Exit(cli.Run(command))
}

// A store without fsync: it is thrown away after the tests.
func etcd() *cobra.Command {
	config := embed.NewConfig()
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	var client, peer string
	command := &cobra.Command{
		Use: "etcd",
		RunE: func(*cobra.Command, []string) error {
			clients, err := url.Parse(client)
			if err != nil {
				return err
			}
			peers, err := url.Parse(peer)
			if err != nil {
				return err
			}
			config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clients}, []url.URL{*clients}
			config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peers}, []url.URL{*peers}
			config.InitialCluster = config.InitialClusterFromName(config.Name)
			server, err := embed.StartEtcd(config)
			if err != nil {
				return err
			}
			<-server.Server.ReadyNotify()
			fmt.Println("ready")
			return <-server.Err()
		},
	}
	command.Flags().StringVar(&config.Dir, "dir", "", "folder of the data")
	command.Flags().StringVar(&client, "client", "", "URL for clients")
	command.Flags().StringVar(&peer, "peer", "", "URL for other servers")
	return command
}
